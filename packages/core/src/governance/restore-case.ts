import { guest } from '../kernel/caller.ts'
import type { GovernanceContext } from './governance-context.ts'
import { moveCase, restoreTopic } from './move-case.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
/** Nobody else restores a case, so this is not given up for a week. */
const retryDelaysMs = [minuteMs, 5 * minuteMs, ...Array<number>(7 * 24).fill(hourMs)]

/** Restores the content of cases whose time ran out without a court action; each waits as a row of the outbox. */
export function scheduleTakedowns(context: GovernanceContext): void {
  context.outbox.handle(restoreTopic, {
    retryDelaysMs,
    handle: ({ caseId }) => restore(context, caseId as string),
  })
}

/** Does nothing where a court action was recorded meanwhile, or another run was first. */
async function restore(context: GovernanceContext, caseId: string): Promise<void> {
  await context.database.writer.write(async (trx) => {
    const row = await trx.selectFrom('dmca_cases').selectAll().where('id', '=', caseId).executeTakeFirst()
    if (row?.status !== 'counter_noticed') return
    // By another node's clock, or this one before it was set right: the row has to come round again.
    if (context.clock.now() < row.counter_notice_until!) throw new Error('The time of this case has not run out.')
    await moveCase(context, trx, row, { to: 'restored', by: 'time', caller: guest })
  })
}
