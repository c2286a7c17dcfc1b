import { sql } from 'kysely'
import { skewMs } from '../kernel/clock.ts'
import type { Database } from '../storage/database.ts'
import { isInList } from '../storage/list-query.ts'
import { databaseNow } from '../storage/shared-limits.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { leaseMs } from './claims.ts'
import type { OutboxHandler } from './jobs.ts'

/** Whether a clock was set back between two readings. */
export function isSetBack(before: number, now: number): boolean {
  return now < before - skewMs
}

/**
 * Corrects the times of pending rows that were written while a clock was ahead. Without this correction, recurring
 * jobs, retries and the rows of killed processes wait until the clock shows that time again, possibly for years. On
 * PostgreSQL, only rows that are also ahead of PostgreSQL's clock are corrected: if only the clock of this node is
 * behind, the rows of the other nodes are right.
 */
export async function recallFutureRows(
  { dialect, writer }: Database,
  handlers: ReadonlyMap<string, OutboxHandler<object>>,
  now: number,
): Promise<void> {
  const topics = [...handlers].filter(([, { hasDeadlines }]) => !hasDeadlines).map(([topic]) => topic)
  await writer.write(async (trx) => {
    const toleranceMs = skewMs + (dialect === 'postgres' ? Math.max(0, (await readSharedNow(trx)) - now) : 0)
    await endLeases(trx, now, toleranceMs)
    // A row that was never attempted keeps the delay between its creation and its first attempt.
    await sql`update outbox set due_at = ${now} + due_at - created_at, claimable_at = ${now} + due_at - created_at,
        created_at = ${now}
      where state = 'pending' and claimable_at > ${now} and lease is null and attempts = 0
        and created_at > ${now + toleranceMs} and ${isInList(dialect, 'topic', topics)}`.execute(trx)
    for (const [topic, { retryDelaysMs }] of handlers) {
      const latestAt = now + Math.max(...retryDelaysMs)
      if (retryDelaysMs.length > 0) await advanceRetries(trx, topic, { latestAt, toleranceMs })
    }
  })
}

async function readSharedNow(trx: WriteTransaction): Promise<number> {
  const { rows } = await sql<{ now: number }>`select ${databaseNow} as now`.execute(trx)
  return rows[0]!.now
}

/**
 * Shortens leases that end too far in the future, as if they had begun now. Workers that are alive renew their leases.
 */
async function endLeases(trx: WriteTransaction, now: number, toleranceMs: number): Promise<void> {
  await sql`update outbox set claimable_at = ${now + leaseMs},
      due_at = case when due_at > ${now} then ${now} else due_at end
    where state = 'pending' and claimable_at > ${now + leaseMs + toleranceMs} and lease is not null`.execute(trx)
}

async function advanceRetries(
  trx: WriteTransaction,
  topic: string,
  { latestAt, toleranceMs }: { latestAt: number; toleranceMs: number },
): Promise<void> {
  await trx
    .updateTable('outbox')
    .set({ due_at: latestAt, claimable_at: latestAt })
    .where(sql<boolean>`state = 'pending'`)
    .where('claimable_at', '>', latestAt + toleranceMs)
    .where('lease', 'is', null)
    .where('attempts', '>', 0)
    .where('topic', '=', topic)
    .execute()
}
