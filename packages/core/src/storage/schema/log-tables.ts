import type { EventName } from '@skillstead/protocol'
import { bytes, generated, json, oneOf, optional, text, whole } from './columns.ts'

/** The change sequence, the public log with its Merkle tree and signing keys, the audit log, and the outbox. */
export const logTables = {
  /** One row: the last number of each sequence, and the roots of the full subtrees of the log, concatenated. */
  heads: {
    id: whole,
    change_seq: whole,
    log_seq: whole,
    frontier: generated(bytes),
  },
  changes: {
    seq: whole,
    kind: oneOf<'skill' | 'counters' | 'pack' | 'webhooks' | 'rules'>(),
    subject: text,
    at: whole,
    /** The full name of a skill before the change; '' for a new skill and for other kinds of change. */
    name_before: generated(text),
    /** Who could see the skill before the change: see `readReaders`. */
    readers_before: generated(text),
    /** The version that the change published; '' if it published none. */
    version: generated(text),
  },
  // The hash is before the entry: SQLite reads a row from its start, and entries can be long.
  log: {
    seq: whole,
    /** The leaf of the Merkle tree: SHA-256 of a zero byte and the entry. */
    hash: bytes,
    type: text,
    at: whole,
    subject: text,
    digest: optional(text),
    /** The entry as canonical JSON (RFC 8785): the bytes that the log commits to. */
    entry: text,
  },
  /** The full tiles of the Merkle tree. The hashes of an incomplete tile are in `log`, or are the roots of tiles. */
  tree_tiles: {
    /** On level 0 the hashes are leaves; above, they are the roots of tiles on the level below. */
    level: whole,
    n: whole,
    /** The hash of the whole tile, which is a hash in a tile of the level above. */
    root: bytes,
    /** 16 hashes, each of 16 hashes of the tile, so that a proof has to compute few hashes. */
    middle: bytes,
    /** 256 hashes, concatenated. */
    hashes: bytes,
  },
  signing_keys: {
    /** Counted from 1; the highest is the current one. */
    number: whole,
    /** The 32 bytes of an Ed25519 key (RFC 8032). */
    public_key: bytes,
    /** PKCS#8, DER; null for a retired key. */
    private_key: optional(bytes),
    created_at: whole,
    /** When the key stops signing; null for the current key. */
    retires_at: optional(whole),
  },
  audit: {
    /** The order of commits: writers number entries under the lock of `heads`. Rollbacks leave gaps. */
    seq: generated(whole),
    id: text,
    at: whole,
    actor_id: optional(text),
    actor: optional(text),
    action: text,
    subject: text,
    data: json<Record<string, unknown>>(),
  },
  outbox: {
    id: text,
    topic: text,
    /** Only one pending row may have this key; null if any number may be pending. */
    unique_key: optional(text),
    /** The partition: workers visit partitions in turn, so that one with many rows does not delay the others. */
    partition: text,
    /** The remote host of the work, for limits per host; empty for local work. */
    host: text,
    payload: json<Record<string, unknown>>(),
    state: oneOf<'pending' | 'done' | 'failed'>(),
    /** When the next attempt is due. */
    due_at: whole,
    /** When a worker may claim the row: when it is due, or when the current lease ends. */
    claimable_at: whole,
    /** Id of the claim that leases the row. */
    lease: optional(text),
    /** Number of completed attempts. */
    attempts: whole,
    /** The newest attempts: JSON list of `{ number, at, statusCode, durationMs, error }`. */
    attempt_log: text,
    created_at: whole,
  },
  // Webhooks and the events that they subscribe to.
  webhooks: {
    id: text,
    user_id: text,
    url: text,
    /** Event names as a JSON list. */
    events: json<EventName[]>(),
    /** Full names and `owner/*` as a JSON list; null for all skills. */
    skills: optional(json<string[]>()),
    secret: text,
    /** The previous secret, which also signs deliveries until `previous_until`. */
    previous_secret: optional(text),
    previous_until: optional(whole),
    active: whole,
    /** Number of deliveries that failed since the last success. */
    failed_run: whole,
    created_at: whole,
    updated_at: whole,
  },
  /** The events of each active webhook, so that subscribers can be found by event. */
  webhook_subscriptions: {
    event: text,
    user_id: text,
    webhook_id: text,
  },
}
