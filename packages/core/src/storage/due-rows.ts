import { sql, type RawBuilder } from 'kysely'
import type { Database } from './database.ts'
import { isInList } from './list-query.ts'
import type { OutboxRow } from './tables.ts'

/** The columns of a row that are read before it is claimed. */
export type DueRow = Pick<OutboxRow, 'id' | 'partition' | 'host'>

interface DueQuery {
  readonly now: number
  readonly topics: readonly string[]
  /** Partitions are visited in order of their names, beginning after this name. */
  readonly after: string
  /** Partitions to skip, because they reached their limit. */
  readonly without: readonly string[]
  readonly perPartition: number
  readonly limit: number
}

/**
 * Finds due rows of the outbox: the first `perPartition` of each partition, partition by partition. The cost does not
 * depend on how many rows a partition has, because each partition is found from the previous one in the index.
 */
export async function findDueRows(database: Database, query: DueQuery): Promise<DueRow[]> {
  const { dialect, read } = database
  const { now, topics, after, without, perPartition, limit } = query
  const ofPartition = (columns: RawBuilder<unknown>) =>
    sql`select ${columns} from outbox where state = 'pending' and partition = partitions.partition and due_at <= ${now}
      and claimable_at <= ${now} and ${isInList(dialect, 'topic', topics)} order by due_at limit ${perPartition}`
  // The planners use the index for each partition only with a correlated list (SQLite) or a lateral join (PostgreSQL).
  const due =
    dialect === 'sqlite'
      ? sql`cross join outbox as o on o.rowid in (${ofPartition(sql`rowid`)})`
      : sql`cross join lateral (${ofPartition(sql`id, partition, host`)}) as o`
  const { rows } = await sql<DueRow>`with recursive partitions (partition) as (
      select ${toNextPartition(sql`${after}`)}
      union all
      select ${toNextPartition(sql`partitions.partition`)} from partitions where partitions.partition is not null
    )
    select o.id, o.partition, o.host from partitions ${due}
    where partitions.partition is not null and not ${isInList(dialect, 'partitions.partition', without)}
    limit ${limit}`.execute(read)
  return rows
}

function toNextPartition(previous: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(select partition from outbox where state = 'pending' and partition > ${previous} order by partition limit 1)`
}

/** When the next row after a time becomes claimable, in milliseconds since 1970; null if there is none. */
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
