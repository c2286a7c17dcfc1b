import { sql, type SqlBool } from 'kysely'
import { countRows } from '../storage/count-rows.ts'
import type { Database } from '../storage/database.ts'
import { toRowTable } from '../storage/list-query.ts'
import { toAttempts } from './attempts.ts'
import type { JobBrowse, JobState, JobSummary, JobView, TopicCounts } from './outbox.ts'

/** Counting by topic reads each row, so counting stops at this number. A larger number would not help an operator. */
const countedMax = 100_000

/**
 * Reads a page of rows in the given states, one state after the other: pending ones by due time, ended ones newest
 * first.
 */
export async function browseRows(
  { read }: Database,
  { states, topic, page, limit }: JobBrowse,
): Promise<{ rows: JobSummary[]; total: number }> {
  const rows: JobSummary[] = []
  let total = 0
  for (const state of states) {
    const chosen = ofState(read, state).$if(topic !== undefined, (select) => select.where('topic', '=', topic!))
    const count = await countRows(chosen)
    const offset = Math.max(0, (page - 1) * limit - total)
    total += count
    if (rows.length === limit || offset >= count) continue
    const found = await chosen
      .select(['id', 'topic', 'partition', 'state', 'attempts', 'attempt_log', 'due_at', 'created_at'])
      .orderBy(state === 'pending' ? 'claimable_at' : 'due_at', state === 'pending' ? 'asc' : 'desc')
      .orderBy('id')
      .limit(limit - rows.length)
      .offset(offset)
      .execute()
    rows.push(
      ...found.map(({ attempt_log, attempts, due_at, created_at, ...row }) => ({
        ...row,
        attempts: toAttempts(attempt_log),
        attemptsMade: attempts,
        dueAt: due_at,
        createdAt: created_at,
      })),
    )
  }
  return { rows, total }
}

/** Counts the pending and failed rows of each topic, by topic name. */
export async function countTopics({ read }: Database): Promise<TopicCounts[]> {
  const counts = new Map<string, { pending: number; failed: number }>()
  for (const state of ['pending', 'failed'] as const) {
    const some = ofState(read, state).select('topic').limit(countedMax)
    const rows = await read
      .selectFrom(some.as('some'))
      .select((eb) => ['topic', eb.fn.countAll<number>().as('count')])
      .groupBy('topic')
      .execute()
    for (const { topic, count } of rows) {
      counts.set(topic, { pending: 0, failed: 0, ...counts.get(topic), [state]: count })
    }
  }
  return [...counts].map(([kind, count]) => ({ kind, ...count })).toSorted((a, b) => (a.kind < b.kind ? -1 : 1))
}

/** The condition must equal that of the partial indexes, so that the planner uses them. */
function ofState(read: Database['read'], state: JobState) {
  const isOfState = state === 'pending' ? sql<SqlBool>`state = 'pending'` : sql<SqlBool>`state <> 'pending'`
  return read.selectFrom('outbox').where(isOfState).where('state', '=', state)
}

/** Reads the newest row of each partition. Partitions without rows are not in the map. */
export async function readNewestRows(
  { dialect, read }: Database,
  partitions: readonly string[],
): Promise<Map<string, Pick<JobView, 'state' | 'attempts' | 'createdAt'>>> {
  const table = toRowTable(
    dialect,
    { partition: 'text' },
    partitions.map((partition) => ({ partition })),
  )
  // One index lookup per partition, however many rows the partition has.
  const { rows } = await sql<{ partition: string; state: JobState; attempt_log: string; created_at: number }>`
    select l.partition, o.state, o.attempt_log, o.created_at from ${table} as l cross join outbox as o
    where o.id = (select n.id from outbox as n where n.partition = l.partition order by n.id desc limit 1)`.execute(
    read,
  )
  return new Map(
    rows.map(({ partition, state, attempt_log, created_at }) => [
      partition,
      { state, attempts: toAttempts(attempt_log), createdAt: created_at },
    ]),
  )
}
