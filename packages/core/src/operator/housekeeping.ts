import { sweepSessions } from '../accounts/sessions.ts'
import type { OperatorContext } from './operator-context.ts'
import { collectGarbage } from './collect-garbage.ts'
import { sweepIdempotent } from '../accounts/idempotency.ts'
import { sweepDays } from '../community/download-days.ts'
import { rollUpInstalls } from '../community/roll-up.ts'
import { forgetRetiredKeys } from '../log/signing-keys.ts'

const topic = 'housekeeping'
const dayMs = 24 * 60 * 60 * 1000
const minuteMs = 60_000
/** How long finished work stays for an operator to look at. */
const doneKeptMs = 7 * dayMs
/** Somebody may want to try again what failed. */
const failedKeptMs = 30 * dayMs

/** Clears out once a day what nobody needs any more; its own next run is a row of the outbox like any other. */
export async function scheduleHousekeeping(context: OperatorContext): Promise<void> {
  const toJob = (dueAt: number) => ({ topic, payload: {}, uniqueKey: topic, dueAt })
  context.outbox.handle(topic, {
    retryDelaysMs: [minuteMs, minuteMs, minuteMs],
    async handle() {
      await sweepIdempotent(context)
      await sweepSessions(context)
      await collectGarbage(context)
      await forgetRetiredKeys(context)
      const now = context.clock.now()
      await context.outbox.sweep({ done: now - doneKeptMs, failed: now - failedKeptMs })
      await sweepChanges(context)
      // Of nodes that ended before they counted, and did not start again.
      await context.telemetry.flush()
      await rollUpInstalls(context)
      await sweepDays(context)
    },
    // Also after the last failure: tomorrow is another day. A day after the start, for the clock may leap meanwhile.
    afterwards: (trx, [ended]) => context.outbox.enqueue(trx, toJob(ended!.startedAt + dayMs)),
  })
  await context.database.writer.write((trx) => context.outbox.enqueue(trx, toJob(context.clock.now() + dayMs)))
}

/** Every node has followed the changes of yesterday; one that starts reads the catalogue itself. */
async function sweepChanges(context: OperatorContext): Promise<void> {
  await context.database.writer.write(async (trx) => {
    await trx
      .deleteFrom('changes')
      .where('at', '<', context.clock.now() - dayMs)
      .execute()
  })
}
