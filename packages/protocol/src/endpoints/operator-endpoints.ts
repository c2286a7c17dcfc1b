import * as v from 'valibot'
import { toEndpoints } from '../endpoint.ts'
import { User } from '../schemas/account.ts'
import { Count, Term, Username, pageLimit, page, pageFields, boundedText } from '../schemas/fields.ts'
import {
  Backup,
  BackupSchedule,
  NewBackup,
  OutboxCounts,
  OutboxRow,
  Overview,
  RateLimits,
  StorageUse,
  outboxStates,
} from '../schemas/operator.ts'

/** Operation of a node: its first user, its jobs, its storage, its backups. */
export const operatorEndpoints = toEndpoints('Operation', {
  getSetup: {
    auth: 'none',
    open: true,
    summary: 'Show whether the node still needs its first user',
    volatile: true,
    input: v.object({}),
    output: v.object({ needed: v.boolean() }),
  },
  setUp: {
    auth: 'none',
    open: true,
    status: 201,
    summary: 'Create the first user, an administrator, with the setup code that the node printed at its start',
    allowances: ['setup', 'setups'],
    input: v.strictObject({ code: boundedText(100), username: Username }),
    output: v.object({ user: User, key: v.string() }),
  },
  getOverview: {
    auth: 'admin',
    scope: 'manage',
    summary: 'Show an overview of the node',
    input: v.object({}),
    output: Overview,
  },
  listOutbox: {
    auth: 'admin',
    scope: 'manage',
    summary: 'List pending and failed jobs, newest first, with counts by topic',
    input: v.object({ state: v.optional(v.picklist(outboxStates)), kind: v.optional(Term), page, limit: pageLimit() }),
    output: v.object({ rows: v.array(OutboxRow), counts: v.array(OutboxCounts), ...pageFields }),
  },
  retryOutboxRow: {
    auth: 'admin',
    scope: 'manage',
    status: 202,
    summary: 'Retry pending or failed jobs now',
    input: v.strictObject({ id: Term }),
    output: OutboxRow,
  },
  getStorage: {
    auth: 'admin',
    scope: 'manage',
    summary: 'Show the disk space of the registry and its largest skills',
    input: v.object({}),
    output: StorageUse,
  },
  getRateLimits: {
    auth: 'admin',
    scope: 'manage',
    summary: 'Show the rate limits per minute and the number of rejected requests',
    input: v.object({}),
    output: RateLimits,
  },
  listBackups: {
    auth: 'admin',
    scope: 'manage',
    summary: 'List the backups of the registry, newest first',
    input: v.object({}),
    output: v.object({
      backups: v.array(Backup),
      total: Count,
      folder: v.nullable(v.string()),
      /** Null if the node makes no scheduled backups. */
      schedule: v.nullable(BackupSchedule),
    }),
  },
  createBackup: {
    auth: 'admin',
    scope: 'manage',
    status: 201,
    summary: 'Back up the whole registry while it is running, and verify the copy',
    input: v.strictObject({}),
    output: NewBackup,
  },
})
