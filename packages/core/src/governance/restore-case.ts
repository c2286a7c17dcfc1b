import { guest } from '../kernel/caller.ts'
import type { GovernanceContext } from './governance-context.ts'
import { moveCase, restoreTopic } from './move-case.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
/** Retries for a week, since nothing else restores a case. */
const retryDelaysMs = [minuteMs, 5 * minuteMs, ...Array<number>(7 * 24).fill(hourMs)]

/** Restores the content of cases whose deadline expired without a court action; each is a row of the outbox. */
export function scheduleTakedowns(context: GovernanceContext): void {
  context.outbox.handle(restoreTopic, {
    retryDelaysMs,
    handle: ({ caseId }) => restore(context, caseId as string),
  })
}

/** Does nothing if a court action was recorded meanwhile, or another run was first. */
async function restore(context: GovernanceContext, caseId: string): Promise<void> {
  await context.database.writer.write(async (trx) => {
    const row = await trx.selectFrom('dmca_cases').selectAll().where('id', '=', caseId).executeTakeFirst()
    if (row?.status !== 'counter_noticed') return
    // Due early, by another node's clock or because this clock was set back: the row must be retried.
    if (context.clock.now() < row.counter_notice_until!) throw new Error('The deadline of this case has not expired.')
    await moveCase(context, trx, row, { to: 'restored', by: 'time', caller: guest })
  })
}
