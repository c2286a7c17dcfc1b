import { type BackupSchedule, isRegistryError, toTimestamp, toErrorText } from '@skillstead/protocol'
import { systemCaller, type Metric } from '@skillstead/core'
import { type ExtensionParts, toMetric } from '@skillstead/core/internal'
import {
  addBackup,
  dropOldBackups,
  findBackupFolder,
  readBackups,
  recordBackup,
  toUnsupported,
} from './backup-files.ts'

/** The interval of scheduled backups, and how many are retained. */
export interface BackupPlan {
  readonly everyMs: number
  /** Number of scheduled backups that are retained, at least 1. */
  readonly backupsMax: number
}

/** Topic and unique key of the outbox rows: the pending scheduled backup and the completed ones. */
const topic = 'backup'
const minuteMs = 60_000
const retryDelaysMs = [5 * minuteMs, 15 * minuteMs, 60 * minuteMs]

/** Throws a TypeError for a plan with invalid numbers. */
export function checkPlan({ everyMs, backupsMax }: BackupPlan): void {
  if ([everyMs, backupsMax].every(Number.isSafeInteger) && everyMs >= minuteMs && backupsMax >= 1) return
  throw new TypeError('The interval of backups must be at least one minute, and at least one backup must be retained.')
}

/**
 * Makes backups on schedule; the next backup is a row of the outbox. A backup that is overdue when the registry opens
 * is made at once. `onError` receives the error of a failed backup. Without a plan, cancels the pending backup of an
 * earlier plan. Throws `not_implemented` for a plan if the database is not a file.
 */
export async function scheduleBackups(parts: ExtensionParts, plan: BackupPlan | undefined): Promise<void> {
  const { outbox, clock, database, onError } = parts
  if (!plan) return dropWaiting(parts)
  if (database.path === undefined) throw toUnsupported(database.dialect)
  outbox.handle(topic, {
    // Uses only the retry delays that end before the next scheduled backup.
    retryDelaysMs: retryDelaysMs.filter((delayMs) => delayMs < plan.everyMs),
    async handle() {
      try {
        await makeBackup(parts, plan)
      } catch (error) {
        if (!isRegistryError(error, 'shutting_down'))
          onError(new Error(`A scheduled backup failed: ${toErrorText(error)}`, { cause: error }))
        throw error
      }
    },
    afterwards: (trx, [ended]) => outbox.enqueue(trx, toJob(ended!.startedAt + plan.everyMs)),
  })
  const last = await findLastAt(parts)
  const now = clock.now()
  // After the clock was set back, the last backup may be in the future.
  const dueAt = last === undefined ? now : Math.min(last, now) + plan.everyMs
  await dropWaiting(parts)
  await database.writer.write((trx) => outbox.enqueue(trx, toJob(dueAt)))
}

/** The interval, the time of the next backup and the last result; null without a plan. */
export async function readSchedule(
  parts: ExtensionParts,
  plan: BackupPlan | undefined,
): Promise<BackupSchedule | null> {
  if (!plan) return null
  const rows = await parts.outbox.list(topic, 2)
  const waiting = rows.find(({ state }) => state === 'pending')
  const last = await findLastAt(parts)
  return {
    everySeconds: plan.everyMs / 1000,
    backupsMax: plan.backupsMax,
    lastAt: last === undefined ? null : toTimestamp(last),
    lastError: rows.find(({ attempts }) => attempts.length > 0)?.attempts.at(-1)!.error ?? null,
    nextAt: waiting ? toTimestamp(waiting.dueAt) : null,
  }
}

/** Metrics that reveal failing or missing backups. */
export async function readBackupMetrics(parts: ExtensionParts, plan: BackupPlan | undefined): Promise<Metric[]> {
  const schedule = await readSchedule(parts, plan)
  if (!schedule) return []
  const lastMs = schedule.lastAt === null ? 0 : Date.parse(schedule.lastAt)
  return [
    toMetric(
      'skillstead_backup_last_success_seconds',
      'When the newest scheduled backup was made, in seconds since 1970; 0 before the first',
      lastMs / 1000,
    ),
    toMetric(
      'skillstead_backup_failing',
      'Whether the last scheduled backup failed',
      schedule.lastError === null ? 0 : 1,
    ),
  ]
}

async function makeBackup(parts: ExtensionParts, { backupsMax }: BackupPlan): Promise<void> {
  const made = await addBackup(parts, true)
  await dropOldBackups(findBackupFolder(parts.database)!, backupsMax, made.name)
  await recordBackup(parts, systemCaller, made)
}

function toJob(dueAt: number) {
  return { topic, payload: {}, uniqueKey: topic, dueAt }
}

/**
 * The time of the last scheduled backup. A time in the future, from before the clock was set back, counts only if there
 * is no earlier one.
 */
async function findLastAt({ database, clock }: ExtensionParts): Promise<number | undefined> {
  const all = (await readBackups(findBackupFolder(database)!)).filter(({ scheduled }) => scheduled)
  const times = all.map(({ createdAt }) => Date.parse(createdAt))
  return times.find((at) => at <= clock.now()) ?? times[0]
}

/** Removes the pending backup, because a new plan changes its time; a running backup continues. */
async function dropWaiting({ database, outbox }: ExtensionParts): Promise<void> {
  const waits = await database.read.selectFrom('outbox').select('id').where('unique_key', '=', topic).executeTakeFirst()
  if (!waits) return
  await database.writer.write((trx) => outbox.cancel(trx, topic))
}
