import { sweepEmbeddings } from '../search/embeddings-reranker.ts'
import { removeChanges } from '../log/append-change.ts'
import type { StorageContext } from '../storage/storage-context.ts'
import { sweepSessions } from '../accounts/sessions.ts'
import { sweepSignIns } from '../accounts/sign-ins.ts'
import { sweepUploads } from '../catalogue/publishing/uploads.ts'
import { dayMs, hourMs, minuteMs } from '../kernel/clock.ts'
import type { OperatorContext } from './operator-context.ts'
import { sweepIdempotent } from '../accounts/idempotency.ts'
import { sweepDays } from '../community/download-days.ts'
import { forgetInstallers } from '../community/installers.ts'
import { rollUpInstalls } from '../community/trends.ts'
import { forgetRetiredKeys } from '../log/signing-keys.ts'

const topic = 'housekeeping'
/** Retention of completed jobs, for operators to inspect. */
const doneKeptMs = 7 * dayMs
/** Retention of embeddings. A search that needs a deleted embedding requests it again. */
const embeddingsKeptMs = 90 * dayMs
/** Maximum number of stored embeddings, above which the oldest are deleted: about 800 MB with usual models. */
const embeddingsMax = 200_000
/** Retention of failed jobs, longer than of completed jobs, because an operator may retry them. */
const failedKeptMs = 30 * dayMs

/** If the last run is longer ago than this, a run deletes nothing: the clock jumped ahead, or no node ran. */
const steadyMs = 2 * dayMs

/**
 * Deletes expired data once a day. The next run is a row of the outbox.
 *
 * A run deletes nothing if the clock seems to have jumped since the last run: while a clock is years ahead, all data
 * seems to have expired. The run after it is due an hour later, and deletes if the clock has not jumped again.
 */
export async function scheduleHousekeeping(context: OperatorContext): Promise<void> {
  const toJob = (since: number, delayMs: number) => ({
    topic,
    payload: { since },
    uniqueKey: topic,
    dueAt: since + delayMs,
  })
  context.outbox.handle(topic, {
    retryDelaysMs: [minuteMs, minuteMs, minuteMs],
    async handle(payload) {
      // Counts the installs that other nodes recorded, but did not count before they ended.
      await context.telemetry.flush()
      if (isSteady(payload, context.clock.now())) await deleteExpired(context)
    },
    // Schedules the next run even if all attempts of this run failed. The time of the next run is based on the start of
    // this run, because the clock may jump during this run.
    afterwards: (trx, [ended]) => {
      const { payload, startedAt } = ended!
      return context.outbox.enqueue(trx, toJob(startedAt, isSteady(payload, startedAt) ? dayMs : hourMs))
    },
  })
  await forgetInstallers(context)
  await context.database.writer.write((trx) => context.outbox.enqueue(trx, toJob(context.clock.now(), dayMs)))
}

function isSteady({ since }: Record<string, unknown>, now: number): boolean {
  return typeof since === 'number' && now >= since && now <= since + steadyMs
}

async function deleteExpired(context: OperatorContext): Promise<void> {
  await sweepIdempotent(context)
  await sweepSessions(context)
  await sweepSignIns(context)
  await sweepUploads(context)
  await context.collectGarbage()
  await forgetRetiredKeys(context)
  const now = context.clock.now()
  await context.outbox.sweep({ done: now - doneKeptMs, failed: now - failedKeptMs })
  await sweepChanges(context)
  await rollUpInstalls(context)
  await sweepDays(context)
  await forgetInstallers(context)
  await sweepEmbeddings(context.database, { before: now - embeddingsKeptMs, rowsMax: embeddingsMax })
}

/** Deletes changes older than a day: every node has processed them, and a starting node reads the whole catalogue. */
async function sweepChanges(context: StorageContext): Promise<void> {
  await context.database.writer.write((trx) => removeChanges(trx, context.clock.now() - dayMs))
}
