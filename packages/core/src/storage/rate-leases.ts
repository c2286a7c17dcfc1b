import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { skewMs } from '../kernel/clock.ts'
import type { Database } from './database.ts'
import { toRowTable } from './list-query.ts'

/** A node's request for points of one key. */
export interface LeaseRequest {
  readonly key: string
  /** All points of a window. */
  readonly points: number
  readonly windowMs: number
  /** Points that the waiting requests need together. */
  readonly need: number
  /** The grant is `need`, or 1/`share` of the remaining points if that is more. */
  readonly share: number
}

export interface LeaseGrant {
  readonly granted: number
  /** Points that no node leases yet. */
  readonly rest: number
  /** End of the window on the database's clock; it also identifies the window. */
  readonly endsAt: number
  readonly endsInMs: number
}

/** Maximum rows deleted by one statement. */
const sweptMax = 10_000
const columns = { key: 'text', points: 'whole', need: 'whole', share: 'whole', window_ms: 'whole' } as const

/** PostgreSQL's clock, which all nodes share. */
export const now = sql<number>`(extract(epoch from statement_timestamp()) * 1000)::bigint`
/**
 * A window that ends later than a new one is from before the clock was set back. A request for a window of no length
 * only reads.
 */
const isOver = sql`(r.ends_at <= ${now}
  or (excluded.ends_at > ${now} and r.ends_at > excluded.ends_at + ${sql.lit(skewMs)}))`
/** Points left in the existing row's window, or all points if that window is over. */
const left = sql`case when ${isOver} then excluded.points else greatest(0, excluded.points - r.taken) end`
const grant = sql`least(${left}, greatest(excluded.need, (${left}) / excluded.share))`

/**
 * Leases points of allowances that all nodes share, for many keys in one statement, and never more per window than a
 * key's points. Uses the database's clock, so that nodes with different clocks count the same windows. Only PostgreSQL
 * has the table.
 */
export async function takeLeases(
  { read, dialect }: Pick<Database, 'read' | 'dialect'>,
  requests: readonly LeaseRequest[],
): Promise<LeaseGrant[]> {
  const rows = requests.map(({ windowMs, key, ...request }) => ({
    ...request,
    key: toStoredKey(key),
    window_ms: windowMs,
  }))
  // Sorted by key: in different orders two nodes could deadlock on each other's rows.
  const { rows: leases } = await sql<LeaseGrant & { key: string }>`
    insert into rate_leases as r (key, points, need, share, granted, taken, ends_at)
    select key, points, need, share, first, first, ${now} + window_ms
    from (select *, least(points, greatest(need, points / share)) as first from ${toRowTable(dialect, columns, rows)} as a)
      as asked
    order by key
    on conflict (key) do update set
      points = excluded.points,
      need = excluded.need,
      share = excluded.share,
      granted = ${grant},
      taken = case when ${isOver} then 0 else r.taken end + ${grant},
      ends_at = case when ${isOver} then excluded.ends_at else r.ends_at end
    returning key, granted, greatest(0, points - taken) as rest, ends_at as "endsAt", ends_at - ${now} as "endsInMs"`.execute(
    read,
  )
  const byKey = new Map(leases.map((lease) => [lease.key, lease]))
  return rows.map(({ key }) => byKey.get(key)!)
}

/** Deletes windows that are over, except rows that another node has locked. */
export async function sweepLeases({ read }: Pick<Database, 'read'>): Promise<void> {
  let swept: bigint | undefined
  do {
    ;({ numAffectedRows: swept } = await sql`delete from rate_leases where key in (
      select key from rate_leases where ends_at <= ${now} limit ${sweptMax} for update skip locked)`.execute(read))
  } while (swept === BigInt(sweptMax))
}

/** Keys are stored as hashes: they may contain an address, which is personal data, and may have any length. */
function toStoredKey(key: string): string {
  return createHash('sha256').update(key).digest('base64url')
}
