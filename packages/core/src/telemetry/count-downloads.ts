import { sql } from 'kysely'
import { appendChange } from '../log.ts'
import { creditDownloads } from '../reputation/credit-downloads.ts'
import { toCountTable } from '../storage/list-query.ts'
import type { Dialect } from '../storage/database.ts'
import type { WriteTransaction } from '../storage/writer.ts'

/** Adds downloads to skills, by their ids, with all that follows: one change of the sequence tells of all of them. */
export async function countDownloads(
  trx: WriteTransaction,
  dialect: Dialect,
  counts: ReadonlyMap<string, number>,
  at: number,
): Promise<void> {
  await sql`update skills set downloads = downloads + c.n from ${toCountTable(dialect, counts)} as c
    where skills.id = c.id`.execute(trx)
  await creditDownloads(trx, dialect, counts, at)
  await appendChange(trx, { kind: 'counters', subject: [...counts.keys()].join(','), at, entries: [] })
}
