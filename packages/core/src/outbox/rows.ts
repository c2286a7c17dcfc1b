import { type Kysely, sql, type SqlBool } from 'kysely'
import type { Database } from '../storage/database.ts'
import { toRowTable } from '../storage/list-query.ts'
import { parseJson, type OutboxRow, type Tables } from '../storage/tables.ts'
import { toAttempts } from './attempts.ts'
import type { JobState, JobView } from './jobs.ts'

type OutboxReader = Pick<Kysely<Tables>, 'selectFrom'>

/** Selects the rows in a state. The conditions equal those of the partial indexes, so that the planner uses them. */
export function selectInState(db: OutboxReader, state: JobState) {
  const isOfState = state === 'pending' ? sql<SqlBool>`state = 'pending'` : sql<SqlBool>`state <> 'pending'`
  return db.selectFrom('outbox').where(isOfState).where('state', '=', state)
}

/** Reads the newest rows of a partition, newest first. */
export async function listRows(db: OutboxReader, partition: string, limit: number): Promise<JobView[]> {
  const rows = db.selectFrom('outbox').selectAll().where('partition', '=', partition).orderBy('id', 'desc').limit(limit)
  return (await rows.execute()).map(toJobView)
}

/** Finds a row of a partition. */
export async function findRow(db: OutboxReader, partition: string, id: string): Promise<JobView | undefined> {
  const rows = db.selectFrom('outbox').selectAll().where('partition', '=', partition).where('id', '=', id)
  const row = await rows.executeTakeFirst()
  return row && toJobView(row)
}

/** Reads the newest row of each partition. Partitions without rows are not in the map. */
export async function readNewestRows(
  { dialect, read }: Database,
  partitions: readonly string[],
): Promise<Map<string, JobView>> {
  const names = partitions.map((partition) => ({ partition }))
  // One index lookup per partition, however many rows the partition has.
  const { rows } = await sql<OutboxRow>`
    select o.* from ${toRowTable(dialect, { partition: 'text' }, names)} as l cross join outbox as o
    where o.id = (select n.id from outbox as n where n.partition = l.partition order by n.id desc limit 1)`.execute(
    read,
  )
  return new Map(rows.map((row) => [row.partition, toJobView(row)]))
}

function toJobView({ id, payload, state, attempt_log, due_at, created_at }: OutboxRow): JobView {
  return {
    id,
    payload: parseJson(payload),
    state,
    attempts: toAttempts(attempt_log),
    dueAt: due_at,
    createdAt: created_at,
  }
}
