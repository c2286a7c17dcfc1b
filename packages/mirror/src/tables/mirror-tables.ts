import { bytes, json, oneOf, optional, text, whole, type RowsOf, type Tables } from '@skillstead/core/internal'
import type { Kysely } from 'kysely'
import type { FeedEntry } from '../release-types.ts'

/** Upstream registries, their logs, and the writes that are queued for them. */
export const upstreamTables = {
  upstreams: {
    /** The name that the operator gave the upstream. The `origin` of a mirrored skill refers to it. */
    name: text,
    kind: oneOf<'node' | 'registry' | 'discovery' | 'git' | 'folder' | 'bundle'>(),
    /** A URL or a path. */
    location: text,
    /** The operator's settings as JSON, such as mode, filters, schedule and priority. */
    settings: text,
    /** The API key for reading, encrypted. */
    credential: optional(bytes),
    /** The username of the API key's owner at the upstream, as the first request reported it. */
    account: optional(text),
    /** The name and the epoch of the upstream's log, once they are known. */
    log_origin: optional(text),
    log_epoch: optional(whole),
    /** The trusted verifier keys as a JSON list. */
    keys: json<string[]>(),
    /** Number of stored entries of the upstream's log, verified or not, and the frontier of their Merkle tree. */
    staged: whole,
    frontier: bytes,
    /** Number of entries that a signed checkpoint confirms, and this checkpoint. */
    verified: whole,
    checkpoint: optional(text),
    /** When the upstream signed the checkpoint; null if the checkpoint has no time. */
    checkpoint_at: optional(whole),
    /** Number of entries that are in the catalogue. */
    applied: whole,
    /** For kinds without a log: the position of the next sync, as JSON. */
    cursor: text,
    /** Id of the running sync, and when its lease ends. */
    lease: optional(text),
    lease_until: whole,
    tried_at: optional(whole),
    synced_at: optional(whole),
    /** Result of the last sync as JSON. */
    report: text,
    /** Why the sync is paused until the operator decides, as JSON; null if the sync is not paused. */
    alarm: optional(text),
    created_at: whole,
  },
  upstream_log: {
    upstream: text,
    /** The number of the entry in the upstream's log, from 1. */
    seq: whole,
    hash: bytes,
    type: text,
    subject: text,
    /** Canonical JSON: the bytes that the upstream's log commits to. */
    entry: json<FeedEntry>(),
  },
  upstream_tiles: {
    upstream: text,
    level: whole,
    n: whole,
    root: bytes,
    middle: bytes,
    hashes: bytes,
  },
  /** Entries and releases of an upstream that were not imported, by subject, with the newest reason. */
  upstream_refusals: {
    upstream: text,
    subject: text,
    reason: text,
    detail: text,
    at: whole,
    /** Number of refused attempts to import the entry or release again. */
    tries: whole,
  },
  /** The accounts at upstreams that users of this node linked. */
  upstream_links: {
    user_id: text,
    upstream: text,
    /** The username at the upstream. */
    username: text,
    /** The user's API key at the upstream, encrypted. */
    credential: bytes,
    created_at: whole,
  },
  upstream_writes: {
    id: text,
    /** The position of the write in the order of all writes. */
    position: whole,
    upstream: text,
    /** The user who caused the write; null for installs, which are counted without a user. */
    user_id: optional(text),
    /** The skill's full name. Writes of one skill are sent in their order. */
    subject: text,
    kind: oneOf<'publish' | 'fork' | 'track' | 'review' | 'agent-review' | 'star'>(),
    /** The parameters of the write as JSON. */
    payload: text,
    state: oneOf<'pending' | 'delivered' | 'conflict' | 'dropped'>(),
    attempts: whole,
    /** The newest error as JSON: `{ code, message, at }`. */
    error: optional(text),
    created_at: whole,
    ended_at: optional(whole),
  },
}

export type MirrorTables = RowsOf<typeof upstreamTables>
export type UpstreamRow = MirrorTables['upstreams']
export type UpstreamWriteRow = MirrorTables['upstream_writes']

/** Adds the tables of the mirror to the type of a connection or transaction. */
export function withUpstreams(db: Kysely<Tables>): Kysely<Tables & MirrorTables> {
  return db.withTables<MirrorTables>()
}

/** Selects the account of a user at an upstream. */
export function selectLink(db: Kysely<Tables>, upstream: string, userId: string) {
  return withUpstreams(db).selectFrom('upstream_links').where('user_id', '=', userId).where('upstream', '=', upstream)
}
