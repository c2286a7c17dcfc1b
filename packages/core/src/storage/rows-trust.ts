/** Reputation, verification, moderation, takedowns and reports of copies. */
export interface TrustTables {
  standings: StandingRow
  badges: { user_id: string; badge: string; since: number }
  verifications: VerificationRow
  reports: ReportRow
  copy_reports: CopyReportRow
  dmca_cases: DmcaCaseRow
  dmca_counter_notices: DmcaCounterNoticeRow
  dmca_history: { id: string; case_id: string; status: DmcaStatus; at: number; note: string }
}

/** What an author's reputation is made from, kept up with every change, and the score that follows. */
export interface StandingRow {
  user_id: string
  username: string
  skills: number
  portable_skills: number
  described_skills: number
  downloads: number
  stars: number
  reviews: number
  /** The sum of half stars above or below three stars, in thousandths. */
  review_points: number
  flagged_skills: number
  hidden_skills: number
  taken_down_skills: number
  /** The verified methods as they are computed with, JSON. */
  verified: string
  score: number
  computed_at: number
}

export interface VerificationRow {
  id: string
  user_id: string
  method: 'github' | 'domain' | 'manual'
  proof: string
  token: string
  status: 'pending' | 'verified' | 'rejected'
  note: string
  checked_at: number | null
  /** How often its user asked for another look, and how many of these the last look came after. */
  asked: number
  answered: number
  created_at: number
}

export interface ReportRow {
  id: string
  /** Somebody's report of a skill, or the appeal of its owner. */
  kind: 'report' | 'appeal'
  skill_id: string
  reason: string
  details: string
  reporter_id: string | null
  status: 'open' | 'upheld' | 'dismissed'
  note: string
  created_at: number
  decided_at: number | null
}

export interface CopyReportRow {
  id: string
  skill_id: string
  original_skill_id: string
  reporter_id: string
  status: 'open' | 'confirmed' | 'dismissed'
  similarity: number
  evidence: string
  note: string
  created_at: number
}

export type DmcaStatus =
  | 'submitted'
  | 'under_review'
  | 'rejected'
  | 'removed'
  | 'counter_noticed'
  | 'restored'
  | 'upheld'

export interface DmcaCaseRow {
  id: string
  skill_id: string
  status: DmcaStatus
  /** What the claimant sent, JSON. */
  notice: string
  /** SHA-256 of the case token, which is shown once. */
  token_hash: string
  counter_notice_until: number | null
  submitted_at: number
}

interface DmcaCounterNoticeRow {
  id: string
  case_id: string
  /** What was sent, JSON. */
  notice: string
  /** 1: it is known to come from the skill's owner. */
  confirmed: number
  sent_at: number
}
