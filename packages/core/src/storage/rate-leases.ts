import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Database } from './database.ts'
import { toRowTable } from './list-query.ts'

/** What a node asks for of the allowance of one key. */
export interface LeaseRequest {
  readonly key: string
  /** The whole allowance of a window. */
  readonly points: number
  readonly windowMs: number
  /** What those who wait ask for together. */
  readonly need: number
  /** The part of what is left that may be given beyond the need, as its divisor. */
  readonly share: number
}

export interface LeaseGrant {
  readonly granted: number
  /** What nobody has been given yet. */
  readonly rest: number
  /** When the window ends by the database's clock, which is its name. */
  readonly endsAt: number
  readonly endsInMs: number
}

/** By one statement. */
const sweptMax = 10_000
const columns = { key: 'text', points: 'whole', need: 'whole', share: 'whole', window_ms: 'whole' } as const

const now = sql`(extract(epoch from statement_timestamp()) * 1000)::bigint`
/** Of the row that is there: what is left in its window, or all of a new one. */
const left = sql`case when r.ends_at <= ${now} then excluded.points else greatest(0, excluded.points - r.taken) end`
const grant = sql`least(${left}, greatest(excluded.need, (${left}) / excluded.share))`

/**
 * Takes points of allowances that all nodes share, of many keys in one statement: of no key more in a window than its
 * points. Time is the database's, so that nodes whose clocks differ count the same windows. Only PostgreSQL has the table.
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
  // One order for everybody, or two nodes could each wait for a row of the other.
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
      taken = case when r.ends_at <= ${now} then 0 else r.taken end + ${grant},
      ends_at = case when r.ends_at <= ${now} then excluded.ends_at else r.ends_at end
    returning key, granted, greatest(0, points - taken) as rest, ends_at as "endsAt", ends_at - ${now} as "endsInMs"`.execute(
    read,
  )
  const byKey = new Map(leases.map((lease) => [lease.key, lease]))
  return rows.map(({ key }) => byKey.get(key)!)
}

/** Forgets windows that are over, but for those that another node is at. */
export async function sweepLeases({ read }: Pick<Database, 'read'>): Promise<void> {
  let swept: bigint | undefined
  do {
    ;({ numAffectedRows: swept } = await sql`delete from rate_leases where key in (
      select key from rate_leases where ends_at <= ${now} limit ${sweptMax} for update skip locked)`.execute(read))
  } while (swept === BigInt(sweptMax))
}

/** A key may name an address, which is nobody's to read in a database, and may be of any length. */
function toStoredKey(key: string): string {
  return createHash('sha256').update(key).digest('base64url')
}
