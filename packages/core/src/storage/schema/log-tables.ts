import {
  bytes,
  generated,
  keyedTable,
  oneOf,
  optional,
  orderedText,
  primary,
  startsAs,
  table,
  text,
  unique,
  whole,
  zero,
} from './columns.ts'

/** The change sequence, the public log with its Merkle tree and signing keys, the audit log, and the outbox. */
export const logTables = {
  /** One row: the last number of each sequence, and the roots of the full subtrees of the log, concatenated. */
  heads: table({
    id: primary(whole),
    change_seq: whole,
    log_seq: whole,
    frontier: generated(startsAs('no bytes', bytes)),
  }),
  changes: table({
    seq: primary(whole),
    kind: oneOf<'skill' | 'counters' | 'pack' | 'webhooks' | 'rules'>(),
    subject: text,
    at: whole,
    /** The full name of a skill before the change; '' for a new skill and for other kinds of change. */
    name_before: generated(startsAs('', text)),
    /** Who could see the skill before the change: see `toReaders`. */
    readers_before: generated(startsAs('', text)),
    /** The version that the change published; '' if it published none. */
    version: generated(startsAs('', text)),
  }),
  // The hash is before the entry: SQLite reads a row from its start, and entries can be long.
  log: table({
    seq: primary(whole),
    /** The leaf of the Merkle tree: SHA-256 of a zero byte and the entry. */
    hash: bytes,
    type: text,
    at: whole,
    subject: text,
    digest: optional(text),
    /** The entry as canonical JSON (RFC 8785): the bytes that the log commits to. */
    entry: text,
  }).index('log_subject', ['subject']),
  /** The full tiles of the Merkle tree. The hashes of an incomplete tile are in `log`, or are the roots of tiles. */
  tree_tiles: table({
    /** On level 0 the hashes are leaves; above, they are the roots of tiles on the level below. */
    level: whole,
    n: whole,
    /** The hash of the whole tile, which is a hash in a tile of the level above. */
    root: bytes,
    /** 16 hashes, each of 16 hashes of the tile, so that a proof has to compute few hashes. */
    middle: bytes,
    /** 256 hashes, concatenated. */
    hashes: bytes,
  }).key(['level', 'n']),
  signing_keys: keyedTable({
    /** Counted from 1; the highest is the current one. */
    number: primary(whole),
    /** The 32 bytes of an Ed25519 key (RFC 8032). */
    public_key: bytes,
    /** PKCS#8, DER; null for a retired key. */
    private_key: optional(bytes),
    created_at: whole,
    /** When the key stops signing; null for the current key. */
    retires_at: optional(whole),
  }),
  audit: table({
    id: primary(text),
    at: whole,
    actor_id: optional(text),
    actor: optional(text),
    action: text,
    subject: text,
    data: text,
  }),
  outbox: table({
    id: primary(text),
    topic: text,
    /** Only one pending row may have this key; null if any number may be pending. */
    unique_key: optional(unique(text)),
    /** The partition: workers visit partitions in turn, so that a long one does not delay the others. */
    partition: orderedText,
    /** The remote host of the work, for limits per host; empty for local work. */
    host: text,
    payload: text,
    state: oneOf<'pending' | 'done' | 'failed'>(),
    /** When the next attempt is due. */
    due_at: whole,
    /** When a worker may claim the row: when it is due, or when the current lease ends. */
    claimable_at: whole,
    /** Id of the claim that leases the row. */
    lease: optional(text),
    /** Number of completed attempts. */
    attempts: zero,
    /** The newest attempts: JSON list of `{ number, at, statusCode, durationMs, error }`. */
    attempt_log: text,
    created_at: whole,
  })
    // Pending rows are found by time, and are few compared with completed rows.
    .index('outbox_due', ['claimable_at'], "state = 'pending'")
    .index('outbox_ended', ['state', 'due_at'], "state <> 'pending'")
    .index('outbox_history', ['partition', 'id'])
    // This index has only columns that a lease does not change: a changed key would write many pages.
    .index('outbox_partitions', ['partition', 'due_at'], "state = 'pending'"),
}
