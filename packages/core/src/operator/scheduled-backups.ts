import { type BackupSchedule, RegistryError, toTimestamp } from '@skillstead/protocol'
import { systemCaller } from '../kernel/caller.ts'
import type { OperatorContext } from './operator-context.ts'
import type { DatabaseLocation } from '../storage/database.ts'
import type { Metric } from './metrics.ts'
import { addBackup, dropOldBackups, findFolder, readBackups, recordBackup, toUnsupported } from './backup-files.ts'

/** The interval of scheduled backups, and how many are retained. */
export interface BackupPlan {
  readonly everyMs: number
  /** At least 1. */
  readonly kept: number
}

/** The topic is also the queue: it contains the pending row and the completed ones. */
const topic = 'backup'
const minuteMs = 60_000
const retryDelaysMs = [5 * minuteMs, 15 * minuteMs, 60 * minuteMs]

/** Throws a TypeError for invalid numbers, and `not_implemented` if there is no file to copy. */
export function requireFile({ path }: DatabaseLocation, plan: BackupPlan | undefined): void {
  if (!plan) return
  const isSound = [plan.everyMs, plan.kept].every(Number.isSafeInteger) && plan.everyMs >= minuteMs && plan.kept >= 1
  if (!isSound)
    throw new TypeError(
      'The interval of backups must be at least one minute, and at least one backup must be retained.',
    )
  if (path === undefined || path === ':memory:') throw toUnsupported(path === undefined ? 'postgres' : 'sqlite')
}

/**
 * Makes backups on schedule; the next one is a row of the outbox. A backup that is overdue when the registry opens is
 * made at once. `onError` receives the error of a failed backup.
 */
export async function scheduleBackups(context: OperatorContext, onError: (error: unknown) => void): Promise<void> {
  const { backupPlan: plan, outbox, clock } = context
  if (!plan) return dropWaiting(context)
  outbox.handle(topic, {
    // Only retries that would come before the next scheduled backup.
    retryDelaysMs: retryDelaysMs.filter((delayMs) => delayMs < plan.everyMs),
    async handle() {
      try {
        await makeBackup(context, plan)
      } catch (error) {
        if (!isClosing(error)) onError(new Error(`A scheduled backup failed: ${toMessage(error)}`, { cause: error }))
        throw error
      }
    },
    afterwards: (trx, [ended]) => outbox.enqueue(trx, toJob(ended!.startedAt + plan.everyMs)),
  })
  const last = await findLastAt(context)
  const now = clock.now()
  // After the clock was set back, the last backup may be in the future.
  const dueAt = last === undefined ? now : Math.min(last, now) + plan.everyMs
  await dropWaiting(context)
  await context.database.writer.write((trx) => outbox.enqueue(trx, toJob(dueAt)))
}

/** The schedule and the last result; null without a schedule. */
export async function readSchedule(context: OperatorContext): Promise<BackupSchedule | null> {
  const { backupPlan: plan, outbox } = context
  if (!plan) return null
  const rows = await outbox.list(topic, 2)
  const waiting = rows.find(({ state }) => state === 'pending')
  const last = await findLastAt(context)
  return {
    everySeconds: plan.everyMs / 1000,
    kept: plan.kept,
    lastAt: last === undefined ? null : toTimestamp(last),
    lastError: rows.find(({ attempts }) => attempts.length > 0)?.attempts.at(-1)!.error ?? null,
    nextAt: waiting ? toTimestamp(waiting.dueAt) : null,
  }
}

/** Metrics that reveal failing or missing backups. */
export async function readBackupMetrics(context: OperatorContext): Promise<Metric[]> {
  const schedule = await readSchedule(context)
  if (!schedule) return []
  const lastMs = schedule.lastAt === null ? 0 : Date.parse(schedule.lastAt)
  return [
    {
      name: 'skillstead_backup_last_success_seconds',
      help: 'When the newest scheduled backup was made, in seconds since 1970; 0 before the first',
      type: 'gauge',
      value: lastMs / 1000,
    },
    {
      name: 'skillstead_backup_failing',
      help: 'Whether the last scheduled backup failed',
      type: 'gauge',
      value: schedule.lastError === null ? 0 : 1,
    },
  ]
}

async function makeBackup(context: OperatorContext, { kept }: BackupPlan): Promise<void> {
  const made = await addBackup(context, true)
  await dropOldBackups(findFolder(context.database)!, kept, made.name)
  await recordBackup(context, systemCaller, made)
}

function toJob(dueAt: number) {
  return { topic, payload: {}, uniqueKey: topic, dueAt }
}

async function findLastAt({ database }: OperatorContext): Promise<number | undefined> {
  const last = (await readBackups(findFolder(database)!)).find(({ scheduled }) => scheduled)
  return last && Date.parse(last.createdAt)
}

/** A new plan has another next time; a running backup is not affected. */
async function dropWaiting({ database, clock }: OperatorContext): Promise<void> {
  const waits = await database.read.selectFrom('outbox').select('id').where('unique_key', '=', topic).executeTakeFirst()
  if (!waits) return
  await database.writer.write(async (trx) => {
    await trx
      .deleteFrom('outbox')
      .where('unique_key', '=', topic)
      .where((eb) => eb.or([eb('lease', 'is', null), eb('claimable_at', '<=', clock.now())]))
      .execute()
  })
}

function isClosing(error: unknown): boolean {
  return error instanceof RegistryError && error.code === 'shutting_down'
}

function toMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
