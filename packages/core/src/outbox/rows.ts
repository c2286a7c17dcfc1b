import { sql, type Kysely, type SqlBool } from 'kysely'
import type { Database } from '../storage/database.ts'
import { isInList } from '../storage/list-query.ts'
import type { OutboxRow, Tables } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { toAttempts } from './attempts.ts'
import type { JobView, OutboxFigures } from './outbox.ts'

const sweptMax = 1000
const redirectedMax = 1000

/** Reads the newest rows of a partition, newest first. */
export async function listRows({ read }: Database, partition: string, limit: number): Promise<JobView[]> {
  const rows = await ofPartition(read, partition).orderBy('id', 'desc').limit(limit).execute()
  return rows.map(toView)
}

/** Finds a row of a partition. */
export async function findRow({ read }: Database, partition: string, id: string): Promise<JobView | undefined> {
  const row = await ofPartition(read, partition).where('id', '=', id).executeTakeFirst()
  return row && toView(row)
}

/** Makes a row due now, unless an attempt is in progress; see {@link Outbox.retry}. */
export async function retryRow(
  trx: WriteTransaction,
  { partition, id, now }: { partition: string; id: string; now: number },
): Promise<JobView | undefined> {
  await trx
    .updateTable('outbox')
    .set({ state: 'pending', due_at: now, claimable_at: now })
    .where('id', '=', id)
    .where('partition', '=', partition)
    .where('state', 'in', ['pending', 'failed'])
    .where('lease', 'is', null)
    .execute()
  const row = await ofPartition(trx, partition).where('id', '=', id).executeTakeFirst()
  return row && toView(row)
}

/** Deletes the row with a unique key unless a worker holds its lease. */
export async function cancelRow(
  trx: WriteTransaction,
  { uniqueKey, now }: { uniqueKey: string; now: number },
): Promise<void> {
  await trx
    .deleteFrom('outbox')
    .where('unique_key', '=', uniqueKey)
    .where((eb) => eb.or([eb('lease', 'is', null), eb('claimable_at', '<=', now)]))
    .execute()
}

/**
 * Updates in batches, so that other writers do not wait long: a partition may hold all events that a receiver missed for
 * hours.
 */
export async function redirectRows(
  { dialect, read, writer }: Database,
  partition: string,
  host: string,
): Promise<void> {
  const rows = await read
    .selectFrom('outbox')
    .select('id')
    .where('partition', '=', partition)
    .where(sql<SqlBool>`state = 'pending'`)
    .where('host', '!=', host)
    .execute()
  for (let i = 0; i < rows.length; i += redirectedMax) {
    const ids = rows.slice(i, i + redirectedMax).map(({ id }) => id)
    await writer.write((trx) =>
      trx
        .updateTable('outbox')
        .set({ host })
        .where(isInList(dialect, 'id', ids))
        .where('state', '=', 'pending')
        .execute(),
    )
  }
}

/** Deletes rows that ended before a time, in batches, so that other writers do not wait long. */
export async function sweepRows({ writer }: Database, before: { done: number; failed: number }): Promise<void> {
  for (const state of ['done', 'failed'] as const) {
    const sweep = (trx: WriteTransaction) => {
      const old = trx
        .selectFrom('outbox')
        .select('id')
        // The condition must equal that of the partial index, so that the planner uses the index.
        .where(sql<SqlBool>`state <> 'pending'`)
        .where('state', '=', state)
        .where('due_at', '<', before[state])
        .limit(sweptMax)
      return trx.deleteFrom('outbox').where('id', 'in', old).executeTakeFirstOrThrow()
    }
    for (;;) {
      const { numDeletedRows } = await writer.write(sweep)
      if (numDeletedRows < sweptMax) break
    }
  }
}

export async function readFigures({ read }: Database): Promise<Omit<OutboxFigures, 'attempts' | 'failures'>> {
  const { pending, oldest } = await read
    .selectFrom('outbox')
    .select((eb) => [eb.fn.countAll<number>().as('pending'), eb.fn.min<number | null>('due_at').as('oldest')])
    .where(sql<SqlBool>`state = 'pending'`)
    .executeTakeFirstOrThrow()
  const { failed } = await read
    .selectFrom('outbox')
    .select((eb) => eb.fn.countAll<number>().as('failed'))
    .where(sql<SqlBool>`state <> 'pending'`)
    .where('state', '=', 'failed')
    .executeTakeFirstOrThrow()
  return { pending, failed, oldestDueAt: oldest }
}

function ofPartition(db: Pick<Kysely<Tables>, 'selectFrom'>, partition: string) {
  return db.selectFrom('outbox').selectAll().where('partition', '=', partition)
}

function toView({ id, payload, state, attempt_log, due_at, created_at }: OutboxRow): JobView {
  return {
    id,
    payload: JSON.parse(payload) as Record<string, unknown>,
    state,
    attempts: toAttempts(attempt_log),
    dueAt: due_at,
    createdAt: created_at,
  }
}
