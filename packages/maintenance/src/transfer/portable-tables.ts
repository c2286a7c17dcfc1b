import type { SchemaExtension, TableRule, Tables } from '@skillstead/core/internal'

/** Tables that are not exported. */
const leftOut = {
  /** Not exported: sessions last hours, and an old copy must not sign anyone in. */
  sessions: true,
  used_states: true,
  /** Not exported: sign-ins of programs last minutes. */
  sign_ins: true,
  sign_in_guesses: true,
  uploads: true,
  /** Not exported: a cache, and the node that imports may use another model. */
  embeddings: true,
} as const

/**
 * Tables without a row type that are not exported: the header names the migrations, an import rebuilds the full-text
 * index, and leases of rate limits are short-lived.
 */
export const unlistedTables = ['migrations', 'skill_text', 'rate_leases'] as const

/**
 * Every exported table of core. Referenced rows come first, so the order matters. A migration that adds a table must
 * add the table here or to the tables that are left out; the compiler and a test enforce this rule.
 */
const coreTables: Readonly<Record<Exclude<keyof Tables, keyof typeof leftOut>, TableRule>> = {
  // The epoch is in the header, and an import starts a new epoch.
  meta: { key: ['key'], where: "key <> 'epoch'" },
  heads: { key: ['id'] },
  signing_keys: { key: ['number'] },
  users: { key: ['id'] },
  avatars: { key: ['user_id'], isHeavy: true },
  follows: { key: ['follower_id', 'followed_id'] },
  api_keys: { key: ['id'] },
  identities: { key: ['issuer', 'subject'] },
  trusted_publishers: { key: ['id'] },
  members: { key: ['organisation_id', 'user_id'] },
  member_invitations: { key: ['organisation_id', 'user_id'] },
  teams: { key: ['id'] },
  team_members: { key: ['team_id', 'user_id'] },
  blobs: { key: ['digest'], isHeavy: true, instead: { place: 'null' } },
  skills: { key: ['num'] },
  skill_documents: { key: ['skill_id'] },
  holders: { key: ['name'] },
  requirements: { key: ['skill_id', 'name'] },
  aliases: { key: ['full_name'] },
  versions: { key: ['id'] },
  version_files: { key: ['version_id', 'path'] },
  version_access: { key: ['version_id'], isHeavy: true },
  version_terms: { key: ['version_id'] },
  scans: { key: ['version_id'] },
  opinions: { key: ['digest'] },
  evaluations: { key: ['version_id', 'author_id'] },
  version_sketches: { key: ['num'] },
  shared_shingles: { key: ['shingle', 'skill_num'] },
  waiting_sketches: { key: ['sketch_num'] },
  team_skills: { key: ['skill_id', 'team_id'] },
  collaborators: { key: ['skill_id', 'user_id'] },
  invitations: { key: ['skill_id', 'user_id'] },
  shares: { key: ['id'] },
  transfers: { key: ['skill_id'] },
  stars: { key: ['skill_id', 'user_id'] },
  packs: { key: ['id'] },
  pack_skills: { key: ['pack_id', 'position'] },
  agents: { key: ['id'] },
  agent_activity: { key: ['id'] },
  agent_skills: { key: ['agent_id', 'skill_id'] },
  agent_reviews: { key: ['id'] },
  agent_review_votes: { key: ['review_id', 'agent_key'] },
  reviews: { key: ['id'] },
  issues: { key: ['id'] },
  requests: { key: ['id'] },
  request_votes: { key: ['request_id', 'user_id'] },
  standings: { key: ['user_id'] },
  badges: { key: ['user_id', 'badge'] },
  verifications: { key: ['id'] },
  reports: { key: ['id'] },
  copy_reports: { key: ['id'] },
  dmca_cases: { key: ['id'] },
  dmca_counter_notices: { key: ['id'] },
  dmca_history: { key: ['id'] },
  install_journal: { key: ['id'] },
  install_hours: { key: ['hour', 'skill_id'] },
  install_days: { key: ['day', 'skill_id'] },
  download_days: { key: ['day', 'skill_id'] },
  download_details: { key: ['day', 'skill_id', 'version', 'client'] },
  installers: { key: ['skill_id', 'user_id'] },
  trends: { key: ['period', 'skill_id'] },
  external_skills: { key: ['id'] },
  quarantined_versions: { key: ['version_id'] },
  quarantine_items: { key: ['id'], isHeavy: true },
  quarantine_files: { key: ['quarantine_id', 'path'], isHeavy: true },
  submission_reviews: { key: ['quarantine_id', 'user_id'] },
  submission_comments: { key: ['id'] },
  policies: { key: ['subject_id'] },
  webhooks: { key: ['id'] },
  webhook_subscriptions: { key: ['event', 'user_id', 'webhook_id'] },
  changes: { key: ['seq'] },
  log: { key: ['seq'] },
  tree_tiles: { key: ['level', 'n'] },
  outbox: { key: ['id'], isHeavy: true, instead: { lease: 'null', claimable_at: 'due_at' } },
  audit: { key: ['seq'] },
  // Without requests that are still running (status 0): the process that imports cannot complete them.
  idempotent_answers: { key: ['id'], where: 'status <> 0' },
}

/** The rules of tables by their names, in the order in which an export has them. */
export type TableRules = ReadonlyMap<string, TableRule>

/** The tables of core, and after them those of the extensions, which may refer to them. */
export function toTableRules(extensions: readonly Pick<SchemaExtension, 'tables'>[]): TableRules {
  return new Map([coreTables, ...extensions.map(({ tables }) => tables)].flatMap((tables) => Object.entries(tables)))
}
