import * as v from 'valibot'
import { Plan } from './account.ts'
import { Count, Id, Timestamp } from './fields.ts'

const networkModes = ['online', 'prefer-local', 'offline'] as const
export const outboxStates = ['pending', 'failed', 'done'] as const

/** How a node stands, at a glance. */
export const Overview = v.object({
  /** Of the program; null where the registry is not served by a node. */
  version: v.nullable(v.string()),
  startedAt: Timestamp,
  /** The name of the node in its log. */
  origin: v.string(),
  database: v.picklist(['sqlite', 'postgres']),
  /** When upstreams are asked; null where none can be followed. */
  network: v.nullable(v.picklist(networkModes)),
  counts: v.object({ skills: Count, versions: Count, users: Count, packs: Count }),
  outbox: v.object({
    pending: Count,
    /** Of those that wait, the ones whose time has come. */
    due: Count,
    failed: Count,
    /** Since when the oldest of what has not ended is due. */
    oldestAt: v.nullable(Timestamp),
  }),
  search: v.object({ documents: Count, ready: v.boolean() }),
  log: v.object({ size: Count, lastEntryAt: v.nullable(Timestamp) }),
  /** Versions without a scan by the current rules. */
  scans: v.object({ pending: Count }),
  /** Upstreams that stand still until somebody decides. */
  alarms: v.array(v.object({ upstream: v.string(), code: v.string(), message: v.string(), at: Timestamp })),
})
export type Overview = v.InferOutput<typeof Overview>

/** A piece of work that waits, failed or is done. What it is about in particular is not shown: it may be private. */
export const OutboxRow = v.object({
  id: Id,
  kind: v.string(),
  lane: v.string(),
  state: v.picklist(outboxStates),
  attempts: Count,
  lastError: v.nullable(v.string()),
  /** Null for what has ended. */
  nextAt: v.nullable(Timestamp),
  createdAt: Timestamp,
})
export type OutboxRow = v.InferOutput<typeof OutboxRow>

export const OutboxCounts = v.object({ kind: v.string(), pending: Count, failed: Count })

/** What a registry takes on its disk, or in its database. */
export const StorageUse = v.object({
  databaseBytes: Count,
  /** The journal of an SQLite file; null on PostgreSQL. */
  walBytes: v.nullable(Count),
  /** The content of skills before it is compressed, each file once. */
  contentBytes: Count,
  blobs: Count,
  /** What the disk under the file has left; null where there is no file. */
  freeBytes: v.nullable(Count),
  /** The skills whose versions are largest together. */
  largest: v.array(v.object({ fullName: v.string(), bytes: Count })),
})
export type StorageUse = v.InferOutput<typeof StorageUse>

/** Requests a minute, as they are in force. */
export const RateLimits = v.object({
  /** False where nothing is limited, or nobody comes from outside. */
  on: v.boolean(),
  /** Of callers without a key, by address. */
  anonymous: Count,
  plans: v.array(v.object({ plan: Plan, requestsPerMinute: Count })),
  /** The requests that were refused since the node started; null where no node serves the registry. */
  limitedTotal: v.nullable(Count),
})
export type RateLimits = v.InferOutput<typeof RateLimits>

/** `scheduled`: whether the node made it by itself, and will delete it when it has newer ones. */
const backupFields = { name: v.string(), bytes: Count, createdAt: Timestamp, scheduled: v.boolean() }

/** A copy of the whole registry, beside its file. */
export const Backup = v.object(backupFields)
export type Backup = v.InferOutput<typeof Backup>

/** A copy just made: it was read through from end to end before it got its name. */
export const NewBackup = v.object({ ...backupFields, verified: v.literal(true) })

/** The copies that a node makes by itself. */
export const BackupSchedule = v.object({
  everySeconds: Count,
  /** How many of them are kept. */
  kept: Count,
  /** When the newest was made. */
  lastAt: v.nullable(Timestamp),
  /** Why the last try failed; null where it did not. */
  lastError: v.nullable(v.string()),
  nextAt: v.nullable(Timestamp),
})
export type BackupSchedule = v.InferOutput<typeof BackupSchedule>
