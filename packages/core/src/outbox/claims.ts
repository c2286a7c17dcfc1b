import { sql } from 'kysely'
import { newId } from '../kernel/ids.ts'
import type { Database } from '../storage/database.ts'
import { isInList, toRowTable } from '../storage/list-query.ts'
import type { OutboxRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'

/** A row that this process leased. */
export type ClaimedRow = Pick<
  OutboxRow,
  'id' | 'topic' | 'partition' | 'host' | 'payload' | 'attempts' | 'attempt_log' | 'due_at'
> & { lease: string }

/** The state that is written to a row after an attempt. */
export interface AttemptResult {
  readonly row: ClaimedRow
  readonly state: OutboxRow['state']
  readonly dueAt: number
  /** Start of the attempt, in milliseconds since 1970. */
  readonly startedAt: number
  readonly attemptLog: string
}

/** If a worker does not renew its leases for this time, in milliseconds, other workers may take its rows. */
export const leaseMs = 60_000

/** Leases those of the given rows that no worker has leased, with one lease id for all. Returns the leased rows. */
export async function claimRows(
  { dialect, writer }: Database,
  ids: readonly string[],
  now: number,
): Promise<ClaimedRow[]> {
  const lease = newId()
  return writer.write(async (trx) => {
    const rows = await trx
      .updateTable('outbox')
      .set({ lease, claimable_at: now + leaseMs })
      .where(isInList(dialect, 'id', ids))
      .where('state', '=', 'pending')
      .where('claimable_at', '<=', now)
      .returning(['id', 'topic', 'partition', 'host', 'payload', 'attempts', 'attempt_log', 'due_at'])
      .execute()
    return rows.map((row) => ({ ...row, lease }))
  })
}

/** Renews the leases of rows that are still leased, and returns the ids of these rows. */
export async function renewRows(
  { dialect, writer }: Database,
  rows: readonly ClaimedRow[],
  now: number,
): Promise<Set<string>> {
  return writer.write(async (trx) => {
    const { rows: renewed } = await sql<{ id: string }>`update outbox set claimable_at = ${now + leaseMs}
      from ${toLeaseTable(dialect, rows)} as h where ${isLeased} returning outbox.id`.execute(trx)
    return new Set(renewed.map(({ id }) => id))
  })
}

/** Ends the leases of rows, so that any worker can lease the rows again. */
export async function releaseRows({ dialect, writer }: Database, rows: readonly ClaimedRow[]): Promise<void> {
  await writer.write((trx) =>
    sql`update outbox set lease = null, claimable_at = due_at from ${toLeaseTable(dialect, rows)} as h
      where ${isLeased}`.execute(trx),
  )
}

/**
 * Writes the new states of rows; returns the ids of rows whose lease was still valid. The other rows are not written,
 * because other workers leased them.
 */
export async function writeResults(
  dialect: Database['dialect'],
  trx: WriteTransaction,
  results: readonly AttemptResult[],
): Promise<Set<string>> {
  const table = toRowTable(
    dialect,
    { ...leased, state: 'text', due_at: 'whole', attempts: 'whole', attempt_log: 'text' },
    results.map(({ row, state, dueAt, attemptLog }) => ({
      id: row.id,
      lease: row.lease,
      state,
      due_at: dueAt,
      attempts: row.attempts + 1,
      attempt_log: attemptLog,
    })),
  )
  const { rows } = await sql<{ id: string }>`update outbox set state = h.state, due_at = h.due_at,
      claimable_at = h.due_at, attempts = h.attempts, attempt_log = h.attempt_log, lease = null,
      unique_key = case when h.state = 'pending' then unique_key end
    from ${table} as h where ${isLeased} returning outbox.id`.execute(trx)
  return new Set(rows.map(({ id }) => id))
}

const leased = { id: 'text', lease: 'text' } as const

/** Whether a row of the outbox is in the table `h` of leased rows and still has the same lease. */
const isLeased = sql`outbox.id = h.id and outbox.lease = h.lease`

function toLeaseTable(dialect: Database['dialect'], rows: readonly ClaimedRow[]) {
  return toRowTable(
    dialect,
    leased,
    rows.map(({ id, lease }) => ({ id, lease })),
  )
}
