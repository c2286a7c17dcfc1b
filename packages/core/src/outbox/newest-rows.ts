import { sql } from 'kysely'
import type { Database } from '../storage/database.ts'
import { toRowTable } from '../storage/list-query.ts'
import { toAttempts } from './attempts.ts'
import type { JobState, JobView } from './outbox.ts'

/** Reads the newest row of each lane. Lanes without rows are not in the map. */
export async function readNewestRows(
  { dialect, read }: Database,
  lanes: readonly string[],
): Promise<Map<string, Pick<JobView, 'state' | 'attempts' | 'createdAt'>>> {
  const table = toRowTable(
    dialect,
    { lane: 'text' },
    lanes.map((lane) => ({ lane })),
  )
  // One index lookup per lane, however many rows the lane has.
  const { rows } = await sql<{ lane: string; state: JobState; attempt_log: string; created_at: number }>`
    select l.lane, o.state, o.attempt_log, o.created_at from ${table} as l cross join outbox as o
    where o.id = (select n.id from outbox as n where n.lane = l.lane order by n.id desc limit 1)`.execute(read)
  return new Map(
    rows.map(({ lane, state, attempt_log, created_at }) => [
      lane,
      { state, attempts: toAttempts(attempt_log), createdAt: created_at },
    ]),
  )
}
