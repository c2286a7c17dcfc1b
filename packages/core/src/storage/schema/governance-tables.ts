import type {
  Change,
  DmcaCounterNotice,
  DmcaNotice,
  EvaluationResult,
  Opinion,
  Policy,
  PublisherIdentity,
  Security,
} from '@skillstead/protocol'
import { bytes, generated, fraction, json, oneOf, optional, text, whole } from './columns.ts'

const dmcaStatus = oneOf<
  'submitted' | 'under_review' | 'rejected' | 'removed' | 'counter_noticed' | 'restored' | 'upheld'
>()

/** Scans, quarantined versions, reports and takedowns. */
export const governanceTables = {
  /** The newest scan of a version. */
  scans: {
    version_id: text,
    skill_id: text,
    score: whole,
    verdict: oneOf<'safe' | 'caution' | 'dangerous'>(),
    risk: oneOf<'none' | 'low' | 'medium' | 'high'>(),
    rules_version: text,
    scanned_at: whole,
    /** The complete report as JSON. */
    report: json<Security>(),
  },
  /** A quarantined version, which is published only if an administrator or the reviewers release it: see `reason`. */
  quarantine_items: {
    id: text,
    owner_id: text,
    publisher_id: text,
    full_name: text,
    /** The version number for the publication. */
    version: text,
    digest: text,
    /** The scan report as JSON. */
    scan: json<Security>(),
    /** The options of the publish request as JSON. */
    publication: text,
    /** The agent that the published version will be attributed to. */
    agent_id: optional(text),
    created_at: whole,
    /** The verdict on what the version changes, as JSON. */
    change: optional(json<Change>()),
    /** Who decides: an administrator of the node, or the reviewers of the owner. */
    reason: generated(oneOf<'policy' | 'approval'>()),
  },
  /** The latest verdict of each reviewer on a quarantined version. */
  submission_reviews: {
    quarantine_id: text,
    user_id: text,
    verdict: oneOf<'approved' | 'changes_requested'>(),
    at: whole,
  },
  submission_comments: {
    id: text,
    quarantine_id: text,
    user_id: text,
    /** The commented file and line. `path` is null for the whole version, `line` for a whole file. */
    path: optional(text),
    line: optional(whole),
    body: text,
    created_at: whole,
  },
  /** What organisations and single skills demand of new versions. */
  policies: {
    /** Id of an organisation or a skill. */
    subject_id: text,
    policy: json<Policy>(),
    updated_at: whole,
  },
  // Separate from `blobs`, which every caller can read.
  quarantine_files: {
    quarantine_id: text,
    path: text,
    size: whole,
    digest: text,
    encoding: oneOf<'identity' | 'deflate-raw'>(),
    bytes,
    executable: generated(whole),
  },
  /** A published version that a later scan quarantined. */
  quarantined_versions: {
    version_id: text,
    quarantined_at: whole,
  },
  reports: {
    id: text,
    /** A user's report of a skill, or an appeal by its owner. */
    kind: oneOf<'report' | 'appeal'>(),
    skill_id: text,
    reason: text,
    details: text,
    reporter_id: optional(text),
    status: oneOf<'open' | 'upheld' | 'dismissed'>(),
    note: text,
    created_at: whole,
    decided_at: optional(whole),
  },
  copy_reports: {
    id: text,
    skill_id: text,
    original_skill_id: text,
    reporter_id: text,
    status: oneOf<'open' | 'confirmed' | 'dismissed'>(),
    similarity: fraction,
    evidence: text,
    note: text,
    created_at: whole,
  },
  dmca_cases: {
    id: text,
    skill_id: text,
    status: dmcaStatus,
    /** The claimant's notice as JSON. */
    notice: json<DmcaNotice>(),
    /** SHA-256 of the case token, which is shown once. */
    token_hash: text,
    counter_notice_until: optional(whole),
    submitted_at: whole,
  },
  dmca_counter_notices: {
    id: text,
    case_id: text,
    /** The counter-notice as JSON. */
    notice: json<DmcaCounterNotice>(),
    /** 1: the sender is authenticated as the skill's owner. */
    confirmed: whole,
    sent_at: whole,
  },
  dmca_history: {
    id: text,
    case_id: text,
    status: dmcaStatus,
    at: whole,
    note: text,
  },
  /** The result that a user posted for a version: one for each user and version, the latest. */
  evaluations: {
    version_id: text,
    /** The id and the name of the author at that time, who may have no account on a mirror. */
    author_id: text,
    author: text,
    skill_id: text,
    /** The identity of CI that posted the result, as JSON. Null for people and API keys. */
    identity: optional(json<PublisherIdentity>()),
    /** 1 if the author could publish the skill at that time. */
    by_owner: whole,
    model: text,
    ran_at: whole,
    posted_at: whole,
    /** 1 after the result was withdrawn: the row stays, so that the same result cannot be posted again. */
    withdrawn: whole,
    /** The result as JSON, without the digest of transcripts. */
    result: json<Omit<EvaluationResult, 'transcripts'>>(),
    /** The digest of the list of the transcripts' digests; empty if there are no transcripts. */
    transcripts: text,
  },
  /** The opinion of a service on the content of versions. */
  opinions: {
    /** SHA-256 over the list of files, as in `versions`. */
    digest: text,
    /** The opinion as the API returns it, as JSON. */
    opinion: json<Opinion>(),
  },
}
