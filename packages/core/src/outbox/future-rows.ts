import { sql } from 'kysely'
import { minuteMs } from '../kernel/clock.ts'
import type { Database } from '../storage/database.ts'
import { isInList } from '../storage/list-query.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { leaseMs } from './claims.ts'
import type { OutboxHandler } from './outbox.ts'

/** Clocks of nodes on one database differ by less. */
const skewMs = minuteMs

/** Whether a clock was set back between two readings. */
export function isSetBack(before: number, now: number): boolean {
  return now < before - skewMs
}

/**
 * Moves pending rows to the present that were written while a clock was ahead. Without this, recurring jobs, retries and
 * the rows of killed processes wait until the clock shows that time again, possibly for years.
 */
export async function recallFutureRows(
  { dialect, writer }: Database,
  handlers: ReadonlyMap<string, OutboxHandler>,
  now: number,
): Promise<void> {
  const topics = [...handlers].filter(([, { hasDeadlines }]) => !hasDeadlines).map(([topic]) => topic)
  await writer.write(async (trx) => {
    await endLeases(trx, now)
    // A first attempt keeps its delay.
    await sql`update outbox set due_at = ${now} + due_at - created_at, claimable_at = ${now} + due_at - created_at,
        created_at = ${now}
      where state = 'pending' and claimable_at > ${now} and lease is null and attempts = 0
        and created_at > ${now + skewMs} and ${isInList(dialect, 'topic', topics)}`.execute(trx)
    for (const [topic, { retryDelaysMs }] of handlers) {
      if (retryDelaysMs.length > 0) await advanceRetries(trx, topic, now + Math.max(...retryDelaysMs))
    }
  })
}

/** Workers that are alive renew their leases. The other leases end as if they had begun now. */
async function endLeases(trx: WriteTransaction, now: number): Promise<void> {
  await sql`update outbox set claimable_at = ${now + leaseMs},
      due_at = case when due_at > ${now} then ${now} else due_at end
    where state = 'pending' and claimable_at > ${now + leaseMs + skewMs} and lease is not null`.execute(trx)
}

async function advanceRetries(trx: WriteTransaction, topic: string, latestAt: number): Promise<void> {
  await trx
    .updateTable('outbox')
    .set({ due_at: latestAt, claimable_at: latestAt })
    .where(sql<boolean>`state = 'pending'`)
    .where('claimable_at', '>', latestAt + skewMs)
    .where('lease', 'is', null)
    .where('attempts', '>', 0)
    .where('topic', '=', topic)
    .execute()
}
