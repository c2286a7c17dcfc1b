import { sql, type RawBuilder } from 'kysely'
import type { Database } from './database.ts'
import { isInList } from './list-query.ts'
import type { OutboxRow } from './tables.ts'

/** What is known of a row before it is claimed. */
export type DueRow = Pick<OutboxRow, 'id' | 'lane' | 'host'>

interface DueQuery {
  readonly now: number
  readonly topics: readonly string[]
  /** Lanes are looked at in their order, from the one after this. */
  readonly after: string
  /** Lanes that have enough. */
  readonly without: readonly string[]
  readonly perLane: number
  readonly limit: number
}

/**
 * Rows of the outbox that may be taken, the first of each lane, lane by lane. However many rows a lane holds, looking
 * costs no more than what it may give: each lane is found from the one before it in the index.
 */
export async function findDueRows(database: Database, query: DueQuery): Promise<DueRow[]> {
  const { dialect, read } = database
  const { now, topics, after, without, perLane, limit } = query
  const ofLane = (columns: RawBuilder<unknown>) =>
    sql`select ${columns} from outbox where state = 'pending' and lane = lanes.lane and due_at <= ${now}
      and claimable_at <= ${now} and ${isInList(dialect, 'topic', topics)} order by due_at limit ${perLane}`
  // The planners take a correlated list, or a lateral join, each only one of them by the index.
  const due =
    dialect === 'sqlite'
      ? sql`cross join outbox as o on o.rowid in (${ofLane(sql`rowid`)})`
      : sql`cross join lateral (${ofLane(sql`id, lane, host`)}) as o`
  const { rows } = await sql<DueRow>`with recursive lanes (lane) as (
      select ${toNextLane(sql`${after}`)}
      union all
      select ${toNextLane(sql`lanes.lane`)} from lanes where lanes.lane is not null
    )
    select o.id, o.lane, o.host from lanes ${due}
    where lanes.lane is not null and not ${isInList(dialect, 'lanes.lane', without)}
    limit ${limit}`.execute(read)
  return rows
}

function toNextLane(previous: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(select lane from outbox where state = 'pending' and lane > ${previous} order by lane limit 1)`
}

/** When the next row may be taken after a time, in milliseconds since 1970; null where none waits. */
export async function findNextDue(
  { dialect, read }: Database,
  topics: readonly string[],
  after: number,
): Promise<number | null> {
  const { rows } = await sql<{ at: number }>`select claimable_at as at from outbox
    where state = 'pending' and claimable_at > ${after} and ${isInList(dialect, 'topic', topics)}
    order by claimable_at limit 1`.execute(read)
  return rows[0]?.at ?? null
}
