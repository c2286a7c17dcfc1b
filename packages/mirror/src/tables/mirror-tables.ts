import type { Tables } from '@skillstead/core/internal'
import type { Kysely } from 'kysely'

/** What is followed elsewhere, and what waits to be written there. */
export type MirrorTables = {
  upstreams: UpstreamRow
  upstream_log: UpstreamLogRow
  upstream_tiles: UpstreamTileRow
  upstream_refusals: UpstreamRefusalRow
  upstream_links: UpstreamLinkRow
  upstream_writes: UpstreamWriteRow
}

export interface UpstreamRow {
  /** As the operator calls it; skills name it in their `origin`. */
  name: string
  kind: 'node' | 'registry' | 'discovery' | 'git' | 'folder' | 'bundle'
  /** An address, or a path. */
  location: string
  /** What the operator set, JSON: mode, filters, schedule, priority and so on. */
  settings: string
  /** The API key to read with, encrypted. */
  credential: Uint8Array | null
  /** Whose key that is there, as it said when it was first asked. */
  account: string | null
  /** The name of its log and the epoch that it was in, once they are known. */
  log_origin: string | null
  log_epoch: number | null
  /** The verifier keys that are believed, a JSON list. */
  keys: string
  /** How many entries of its log are here, verified or not, and the frontier of their tree. */
  staged: number
  frontier: Uint8Array
  /** How many of them a signed checkpoint was found to hold, and that checkpoint. */
  verified: number
  checkpoint: string | null
  /** When the upstream signed it, in milliseconds since 1970, as far as it says. */
  checkpoint_at: number | null
  /** How many of them are in the catalogue. */
  applied: number
  /** Where a snapshot of another kind stands, JSON. */
  cursor: string
  /** The run that has it now, and until when. */
  lease: string | null
  lease_until: number
  tried_at: number | null
  synced_at: number | null
  /** What the last run did, JSON. */
  report: string
  /** Why the sync is paused until the operator decides, as JSON; null if it is not. */
  alarm: string | null
  created_at: number
}

interface UpstreamLogRow {
  upstream: string
  /** Counted from 1, as the upstream does. */
  seq: number
  hash: Uint8Array
  type: string
  subject: string
  /** Canonical JSON: the bytes that the upstream's log commits to. */
  entry: string
}

interface UpstreamTileRow {
  upstream: string
  level: number
  n: number
  root: Uint8Array
  middle: Uint8Array
  hashes: Uint8Array
}

/** Something of an upstream that did not come in, and why: the newest reason of each. */
interface UpstreamRefusalRow {
  upstream: string
  subject: string
  reason: string
  detail: string
  at: number
  /** How often it was tried again. */
  tries: number
}

/** The account of a user at an upstream. */
interface UpstreamLinkRow {
  user_id: string
  upstream: string
  /** What the user is called there. */
  username: string
  /** The API key, encrypted. */
  credential: Uint8Array
  created_at: number
}

export interface UpstreamWriteRow {
  id: string
  /** The order in which things were done. */
  position: number
  upstream: string
  /** Null for what nobody in particular did. */
  user_id: string | null
  /** The skill's full name: what is written to one skill goes in its order. */
  subject: string
  kind: 'publish' | 'fork' | 'track' | 'review' | 'agent-review' | 'star'
  /** What is needed to do it there, JSON. */
  payload: string
  state: 'pending' | 'delivered' | 'conflict' | 'dropped'
  attempts: number
  /** The newest problem, JSON: `{ code, message, at }`. */
  error: string | null
  created_at: number
  ended_at: number | null
}

/** The same connection or transaction, with the tables of the mirror in its type. */
export function withUpstreams(db: Kysely<Tables>): Kysely<Tables & MirrorTables> {
  return db.withTables<MirrorTables>()
}
