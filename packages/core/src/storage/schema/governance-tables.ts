import { bytes, fraction, keyedTable, oneOf, optional, primary, table, text, to, unique, whole } from './columns.ts'

const dmcaStatus = oneOf<
  'submitted' | 'under_review' | 'rejected' | 'removed' | 'counter_noticed' | 'restored' | 'upheld'
>()

/** Scans, quarantined versions, reports and takedowns. */
export const governanceTables = {
  /** The newest scan of a version. */
  scans: keyedTable({
    version_id: primary(to('versions.id')),
    skill_id: to('skills.id'),
    score: whole,
    verdict: oneOf<'safe' | 'caution' | 'dangerous'>(),
    risk: oneOf<'none' | 'low' | 'medium' | 'high'>(),
    rules_version: text,
    scanned_at: whole,
    /** The complete report as JSON. */
    report: text,
  }).index('scans_rules', ['rules_version']),
  /** A quarantined version, which is published only if an administrator releases it. */
  quarantine_items: table({
    id: primary(text),
    owner_id: to('users.id'),
    publisher_id: to('users.id'),
    full_name: text,
    /** The version number that it would have been published with. */
    version: text,
    digest: text,
    /** The scan report as JSON. */
    scan: text,
    /** The options of the publish request as JSON. */
    publication: text,
    /** The agent that the published version will be attributed to. */
    agent_id: optional(to('agents.id')),
    created_at: whole,
  })
    .unique('quarantine_items_content', ['full_name', 'digest'])
    .index('quarantine_items_owner', ['owner_id', 'id']),
  // Separate from `blobs`, which every caller can read.
  quarantine_files: table({
    quarantine_id: to('quarantine_items.id', { isCascading: true }),
    path: text,
    size: whole,
    digest: text,
    encoding: oneOf<'identity' | 'deflate-raw'>(),
    bytes,
  }).key(['quarantine_id', 'path']),
  /** A published version that a later scan quarantined. */
  quarantined_versions: keyedTable({
    version_id: primary(to('versions.id')),
    quarantined_at: whole,
  }),
  reports: table({
    id: primary(text),
    /** A user's report of a skill, or an appeal by its owner. */
    kind: oneOf<'report' | 'appeal'>(),
    skill_id: to('skills.id'),
    reason: text,
    details: text,
    reporter_id: optional(to('users.id')),
    status: oneOf<'open' | 'upheld' | 'dismissed'>(),
    note: text,
    created_at: whole,
    decided_at: optional(whole),
  })
    .index('reports_skill', ['skill_id', 'kind'])
    .index('reports_status', ['status', 'id']),
  copy_reports: table({
    id: primary(text),
    skill_id: to('skills.id'),
    original_skill_id: to('skills.id'),
    reporter_id: to('users.id'),
    status: oneOf<'open' | 'confirmed' | 'dismissed'>(),
    similarity: fraction,
    evidence: text,
    note: text,
    created_at: whole,
  })
    .index('copy_reports_skill', ['skill_id', 'reporter_id'])
    .index('copy_reports_status', ['status', 'id']),
  dmca_cases: table({
    id: primary(text),
    skill_id: to('skills.id'),
    status: dmcaStatus,
    /** The claimant's notice as JSON. */
    notice: text,
    /** SHA-256 of the case token, which is shown once. */
    token_hash: unique(text),
    counter_notice_until: optional(whole),
    submitted_at: whole,
  })
    .index('dmca_cases_skill', ['skill_id', 'status'])
    .index('dmca_cases_status', ['status', 'id']),
  dmca_counter_notices: table({
    id: primary(text),
    case_id: to('dmca_cases.id'),
    /** The counter-notice as JSON. */
    notice: text,
    /** 1: the sender is authenticated as the skill's owner. */
    confirmed: whole,
    sent_at: whole,
  }).index('dmca_counter_notices_case', ['case_id', 'id']),
  dmca_history: table({
    id: primary(text),
    case_id: to('dmca_cases.id'),
    status: dmcaStatus,
    at: whole,
    note: text,
  }).index('dmca_history_case', ['case_id', 'id']),
}
