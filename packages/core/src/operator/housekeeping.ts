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
/** Embeddings that are still needed are made again. */
const embeddingsKeptMs = 90 * dayMs
/** About 800 MB with the vectors of usual models. */
const embeddingsMax = 200_000
/** Failed jobs are retained longer, since an operator may retry them. */
const failedKeptMs = 30 * dayMs

/** A longer time since the last run is a clock that jumped ahead, or a node that did not run. */
const steadyMs = 2 * dayMs

/**
 * Deletes expired data once a day. The next run is a row of the outbox.
 *
 * A run deletes nothing if the clock was not steady since the last one: while it is years ahead, all data seems to have
 * expired. After such a run the next one is an hour later, and deletes again if the clock has not jumped since.
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
      // Stores the counts of nodes that ended before they stored them and did not restart.
      await context.telemetry.flush()
      if (isSteady(payload, context.clock.now())) await deleteExpired(context)
    },
    // Schedules the next run also after the last failed attempt: from the start, because the clock may jump.
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

/** Every node has already processed the changes of the previous days; a starting node reads the catalogue itself. */
async function sweepChanges(context: StorageContext): Promise<void> {
  await context.database.writer.write((trx) => removeChanges(trx, context.clock.now() - dayMs))
}
