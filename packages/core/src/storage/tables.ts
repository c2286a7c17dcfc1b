import type { Generated } from 'kysely'
import type { AccessTables } from './rows-access.ts'
import type { CommunityTables } from './rows-community.ts'
import type { CopyTables } from './rows-copies.ts'
import type { ScanTables } from './rows-scans.ts'
import type { TransparencyTables } from './rows-transparency.ts'
import type { TrustTables } from './rows-trust.ts'
import type { UsageTables } from './rows-usage.ts'
import type { WebhookTables } from './rows-webhooks.ts'

/**
 * One row type a table, the same on both databases: times are milliseconds since 1970, flags 0 or 1, structured values
 * JSON text.
 */
export interface Tables
  extends
    AccessTables,
    CommunityTables,
    CopyTables,
    ScanTables,
    TrustTables,
    TransparencyTables,
    UsageTables,
    WebhookTables {
  meta: { key: string; value: string }
  users: UserRow
  avatars: { user_id: string; content_type: string; bytes: Uint8Array }
  follows: { follower_id: string; followed_id: string; created_at: number }
  api_keys: ApiKeyRow
  sessions: SessionRow
  blobs: { digest: string; size: number; encoding: BlobEncoding; bytes: Uint8Array }
  skills: SkillTable
  skill_documents: SkillDocumentRow
  /** Who answers to a short name; see the contract's word on holders. */
  holders: { name: string; skill_id: string }
  /** Full names that skills had before a transfer. */
  aliases: { full_name: string; skill_id: string; created_at: number }
  versions: VersionRow
  version_files: { version_id: string; path: string; digest: string; size: number }
  collaborators: { skill_id: string; user_id: string; role: 'read' | 'write' }
  /** Users whom the owner invited as collaborators, and who have not accepted yet. */
  invitations: { skill_id: string; user_id: string; role: 'read' | 'write'; created_at: number }
  /** Links that let their holders read a skill. */
  shares: ShareRow
  transfers: { skill_id: string; new_owner_id: string; created_at: number }
  stars: { skill_id: string; user_id: string; created_at: number }
  packs: PackRow
  pack_skills: { pack_id: string; position: number; skill_id: string; pinned_version: string | null; note: string }
  /** One row: the last number given in each sequence, and the roots that the log's tree grows from, side by side. */
  heads: { id: 1; change_seq: number; log_seq: number; frontier: Generated<Uint8Array> }
  changes: { seq: number; kind: ChangeKind; subject: string; at: number }
  log: LogRow
  outbox: OutboxRow
  audit: AuditRow
  idempotent_answers: IdempotentAnswerRow
}

export type BlobEncoding = 'identity' | 'deflate-raw'
export type ChangeKind = 'skill' | 'counters' | 'pack' | 'webhooks'
/** `hidden` and `taken_down` are decided by administrators; only `live` skills are in any list. */
export type SkillState = 'live' | 'withdrawn' | 'hidden' | 'taken_down'

export interface UserRow {
  id: string
  username: string
  display_name: string
  plan: 'free' | 'pro' | 'team' | 'enterprise'
  role: 'user' | 'admin'
  disabled: number
  /** 0: a namespace that an import, a mirror or a stub brought in, which nobody can sign in as. */
  claimed: number
  created_at: number
}

export interface ApiKeyRow {
  id: string
  user_id: string
  name: string
  prefix: string
  hash: string
  scopes: string
  created_at: number
  last_used_at: number | null
  expires_at: number | null
}

interface SessionRow {
  /** SHA-256 of the token, which only the browser has. */
  id: string
  /** What the session may do is what this key may, at every moment. */
  key_id: string
  created_at: number
  expires_at: number
}

export interface SkillTable extends Omit<SkillRow, 'num'> {
  /** The small number that search knows the skill by. */
  num: Generated<number>
}

export interface SkillRow {
  num: number
  id: string
  owner_id: string
  owner: string
  name: string
  full_name: string
  /** 1: it holds its short name, as `holders` says, so that the name alone leads everyone to it. */
  holds_name: number
  display_name: string
  description: string
  category: string
  license: string
  keywords: string
  headings: string
  summary: string
  visibility: 'public' | 'internal' | 'private'
  state: SkillState
  stub: number
  deprecated: number
  deprecation_message: string
  repository: string
  /** Empty when there is no version that is not yanked. */
  latest_version: string
  /** The version that spoke for the skill last; what the owner set since stands until another one does. */
  described_by: string
  published_at: number
  created_at: number
  updated_at: number
  downloads: number
  stars: number
  forks: number
  security_score: number | null
  /** What the scan found in the metadata, apart from that of the content: JSON; empty where there is no version. */
  metadata_scan: string
  verified: number
  forked_from: string | null
  forked_from_version: string | null
  origin_kind: 'local' | 'import' | 'mirror' | 'external'
  origin_upstream: string | null
  origin_synced_at: number | null
  /** What the upstream that a mirrored skill comes from says of it; what is decided here comes on top. */
  source_state: 'live' | 'withdrawn' | 'taken_down'
  /** Whether the latest version is. */
  portable: number
  /** Stars and reviews of others than the owner, as reputation counts them; see `reputation/`. */
  credited_stars: number
  credited_reviews: number
  /** In thousandths, as `review_points` of standings. */
  credited_points: number
  /** How many agents of users other than the owner reported, with their tokens, that they have it. */
  agent_installs: number
  /** What administrators made of it, apart from takedowns, and what they told its owner. */
  moderation: 'shown' | 'flagged' | 'hidden'
  moderation_reason: string
  moderated_at: number | null
  /** The change that last touched the skill; with the counters it names the state of its public form. */
  revision: number
}

export interface SkillDocumentRow {
  skill_id: string
  /** Those of the skill when the document was made. */
  revision: number
  updated_at: number
  /** The public form, JSON, without the counters, which are spliced in when it is read. */
  document: string
}

export interface ShareRow {
  id: string
  skill_id: string
  /** SHA-256 of the token, which is shown once. */
  token_hash: string
  created_at: number
  expires_at: number
}

export interface VersionRow {
  id: string
  skill_id: string
  version: string
  sort_key: string
  digest: string
  size: number
  changelog: string
  portable: number
  yanked: number
  published_at: number
  publisher_id: string
  publisher: string
  /** What the version's SKILL.md says of itself; applied to the skill while the version is the latest. */
  metadata: string
}

export interface PackRow {
  id: string
  /** As it is stored; see packs/slugs.ts. */
  slug: string
  name: string
  description: string
  curator_id: string
  curator: string
  visibility: 'public' | 'internal' | 'private'
  state: 'live' | 'withdrawn'
  /** The upstream that it is mirrored from; null for what was made here. */
  origin_upstream: string | null
  created_at: number
  updated_at: number
}

interface LogRow {
  seq: number
  /** The leaf of the Merkle tree: SHA-256 of a zero byte and the entry. */
  hash: Uint8Array
  type: string
  at: number
  subject: string
  digest: string | null
  /** The entry as canonical JSON (RFC 8785): the bytes that the log commits to. */
  entry: string
}

export interface OutboxRow {
  id: string
  topic: string
  /** Rows of one key exist once while they wait; null where many may. */
  unique_key: string | null
  /** Lanes take turns, so that no row waits for what waits in another lane. */
  lane: string
  /** Where the work goes to, which is not asked too much at a time; empty where it goes nowhere. */
  host: string
  payload: string
  state: 'pending' | 'done' | 'failed'
  /** When the next attempt is to begin. */
  due_at: number
  /** When a worker may take it: when it is due, or when the lease of the worker that has it ends. */
  claimable_at: number
  /** The claim that has it. */
  lease: string | null
  /** Attempts that ended. */
  attempts: number
  /** The newest of them: JSON of `{ number, at, statusCode, durationMs, error }`. */
  attempt_log: string
  created_at: number
}

interface AuditRow {
  id: string
  at: number
  actor_id: string | null
  actor: string | null
  action: string
  subject: string
  data: string
}

interface IdempotentAnswerRow {
  id: string
  body_hash: string
  /** 0 while the first request is still running. */
  status: number
  body: string | null
  created_at: number
}
