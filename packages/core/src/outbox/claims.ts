import { sql } from 'kysely'
import { newId } from '../kernel/ids.ts'
import type { Database } from '../storage/database.ts'
import { isInList, toRowTable } from '../storage/list-query.ts'
import type { OutboxRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'

/** A row that a claim of this process holds. */
export type ClaimedRow = Pick<
  OutboxRow,
  'id' | 'topic' | 'lane' | 'host' | 'payload' | 'attempts' | 'attempt_log' | 'due_at'
> & { lease: string }

/** How a row goes on after an attempt. */
export interface Settlement {
  readonly row: ClaimedRow
  readonly state: OutboxRow['state']
  readonly dueAt: number
  /** When the attempt began, in milliseconds since 1970. */
  readonly startedAt: number
  readonly attemptLog: string
}

/** A worker that is not heard of for as long has lost its rows to the others. */
export const leaseMs = 60_000

/** Takes rows, those that nobody took meanwhile, under one lease. */
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
      .returning(['id', 'topic', 'lane', 'host', 'payload', 'attempts', 'attempt_log', 'due_at'])
      .execute()
    return rows.map((row) => ({ ...row, lease }))
  })
}

/** Lengthens the leases of what is still held, and answers the ids of that. */
export async function renewRows(
  { dialect, writer }: Database,
  rows: readonly ClaimedRow[],
  now: number,
): Promise<Set<string>> {
  return writer.write(async (trx) => {
    const { rows: renewed } = await sql<{ id: string }>`update outbox set claimable_at = ${now + leaseMs}
      from ${toQuarantineTable(dialect, rows)} as h where ${isHeld} returning outbox.id`.execute(trx)
    return new Set(renewed.map(({ id }) => id))
  })
}

/** Gives rows back as they were before they were claimed. */
export async function releaseRows({ dialect, writer }: Database, rows: readonly ClaimedRow[]): Promise<void> {
  await writer.write((trx) =>
    sql`update outbox set lease = null, claimable_at = due_at from ${toQuarantineTable(dialect, rows)} as h
      where ${isHeld}`.execute(trx),
  )
}

/** Writes how rows go on; answers the ids of those that were still held, and not lost to another worker. */
export async function settleRows(
  dialect: Database['dialect'],
  trx: WriteTransaction,
  settlements: readonly Settlement[],
): Promise<Set<string>> {
  const table = toRowTable(
    dialect,
    { ...held, state: 'text', due_at: 'whole', attempts: 'whole', attempt_log: 'text' },
    settlements.map(({ row, state, dueAt, attemptLog }) => ({
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
    from ${table} as h where ${isHeld} returning outbox.id`.execute(trx)
  return new Set(rows.map(({ id }) => id))
}

const held = { id: 'text', lease: 'text' } as const

/** Whether a row of the outbox is one of `h`, and still held by the same claim. */
const isHeld = sql`outbox.id = h.id and outbox.lease = h.lease`

function toQuarantineTable(dialect: Database['dialect'], rows: readonly ClaimedRow[]) {
  return toRowTable(
    dialect,
    held,
    rows.map(({ id, lease }) => ({ id, lease })),
  )
}
