import * as v from 'valibot'
import { Plan } from './account.ts'
import { Count, Id, Timestamp } from './fields.ts'

const networkModes = ['online', 'prefer-local', 'offline'] as const
export const outboxStates = ['pending', 'failed', 'done'] as const

/** Overview of a node's state. */
export const Overview = v.object({
  /** Version of the program; null if the registry is not served by a node. */
  version: v.nullable(v.string()),
  startedAt: Timestamp,
  /** Name of the node in its log. */
  origin: v.string(),
  database: v.picklist(['sqlite', 'postgres']),
  /** Network mode of the mirror; null without a mirror. */
  network: v.nullable(v.picklist(networkModes)),
  counts: v.object({ skills: Count, versions: Count, users: Count, packs: Count }),
  outbox: v.object({
    pending: Count,
    /** Number of pending jobs that are due now. */
    due: Count,
    failed: Count,
    /** When the oldest pending job became due. */
    oldestAt: v.nullable(Timestamp),
  }),
  search: v.object({ documents: Count, ready: v.boolean() }),
  log: v.object({
    size: Count,
    lastEntryAt: v.nullable(Timestamp),
    /** The entries of each of the last 30 days in UTC, today last. */
    days: v.array(v.object({ day: v.pipe(v.string(), v.isoDate()), entries: Count })),
  }),
  /** Number of versions that were not scanned with the current rules. */
  scans: v.object({ pending: Count }),
  /** Upstreams whose sync is paused until an administrator decides. */
  alarms: v.array(v.object({ upstream: v.string(), code: v.string(), message: v.string(), at: Timestamp })),
})
export type Overview = v.InferOutput<typeof Overview>

/** A background job. Its payload is not shown, because it may be private. */
export const OutboxRow = v.object({
  id: Id,
  kind: v.string(),
  partition: v.string(),
  state: v.picklist(outboxStates),
  attempts: Count,
  lastError: v.nullable(v.string()),
  /** Null for jobs that have ended. */
  nextAt: v.nullable(Timestamp),
  createdAt: Timestamp,
})
export type OutboxRow = v.InferOutput<typeof OutboxRow>

export const OutboxCounts = v.object({ kind: v.string(), pending: Count, failed: Count })

/** Disk or database space that a registry uses. */
export const StorageUse = v.object({
  databaseBytes: Count,
  /** Journal of an SQLite file; null on PostgreSQL. */
  walBytes: v.nullable(Count),
  /** Uncompressed size of all stored files, each counted once. */
  contentBytes: Count,
  blobs: Count,
  /** Free space on the disk of the database file; null without a file. */
  freeBytes: v.nullable(Count),
  /** The skills with the largest total size of their versions. */
  largest: v.array(v.object({ fullName: v.string(), bytes: Count })),
})
export type StorageUse = v.InferOutput<typeof StorageUse>

/** The rate limits in force, in requests per minute. */
export const RateLimits = v.object({
  /** False if limits are off, or the registry is not served by a node. */
  on: v.boolean(),
  /** The limit of all callers without a key at one IP address. */
  anonymous: Count,
  plans: v.array(v.object({ plan: Plan, requestsPerMinute: Count })),
  /** Requests rejected since the node started; null if no node serves the registry. */
  limitedTotal: v.nullable(Count),
})
export type RateLimits = v.InferOutput<typeof RateLimits>

/**
 * A backup. `scheduled`: whether the node made the backup on schedule, and deletes the backup when its retention ends.
 */
const backupFields = { name: v.string(), bytes: Count, createdAt: Timestamp, scheduled: v.boolean() }

/** A copy of the whole registry, stored next to its file. */
export const Backup = v.object(backupFields)
export type Backup = v.InferOutput<typeof Backup>

/** A new backup, which was verified completely before it got its file name. */
export const NewBackup = v.object({ ...backupFields, verified: v.literal(true) })

/** Schedule of the backups. */
export const BackupSchedule = v.object({
  everySeconds: Count,
  /** Number of scheduled backups that are retained. */
  backupsMax: Count,
  /** When the newest scheduled backup was made. */
  lastAt: v.nullable(Timestamp),
  /** Why the last attempt failed; null if it succeeded. */
  lastError: v.nullable(v.string()),
  nextAt: v.nullable(Timestamp),
})
export type BackupSchedule = v.InferOutput<typeof BackupSchedule>
