import { setTimeout } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Clock } from '../clock.ts'
import { newId } from '../ids.ts'
import type { Database, Dialect } from '../storage/database.ts'
import { isInList, toCountTable } from '../storage/list-query.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { countDownloads } from './count-downloads.ts'
import type { HourlyCounts } from './telemetry.ts'
import { addToTrends, toHour } from './trends.ts'
import { rollAllTrends } from './windows.ts'

/** Skills that are counted in one transaction, so that none holds the event loop for long. */
const skillsMax = 64
/** Between two of them, for those who wait for an answer meanwhile. */
const paceMs = 4
/** Rows that are put together at a time. */
const rowsMax = 1000

/** Rows of the journal that this process wrote, and what they hold together. */
export interface Recorded {
  readonly ids: readonly string[]
  readonly counts: HourlyCounts
}

/**
 * Folds installs into the hourly buckets, what trends and the downloads. Rows of the journal come in the order of the
 * installs, in which each would touch pages all over the tables; so they are first cut anew in the order of the skills.
 * A row and its counts change in one transaction, so that an install is counted once whatever happens.
 */
export async function foldRecorded(database: Database, clock: Clock, recorded: Recorded): Promise<void> {
  try {
    const rows = await database.writer.write(async (trx) => {
      const removed = await removeRows(trx, database.dialect, recorded.ids)
      if (removed < recorded.ids.length) throw new Taken()
      return insertCut(trx, recorded.counts)
    })
    await countRows(database, clock, rows)
  } catch (error) {
    if (!(error instanceof Taken)) throw error
    await foldJournal(database, clock, recorded.ids)
  }
}

/** Another process took some of the rows, so that nobody knows here what is left. */
class Taken extends Error {}

/**
 * As {@link foldRecorded} with whatever is left of some rows, or with the whole journal, in which there may be rows of
 * processes that ended before they counted.
 */
export async function foldJournal(database: Database, clock: Clock, ids?: readonly string[]): Promise<void> {
  const { dialect } = database
  for (;;) {
    // Every opening and closing looks here; only one that finds something needs the lock for writing.
    const waiting = await database.read.selectFrom('install_journal').select('id').limit(1).executeTakeFirst()
    if (!waiting) return
    const rows = await database.writer.write(async (trx) => {
      const taken = await trx
        .selectFrom('install_journal')
        .selectAll()
        .$if(ids !== undefined, (select) => select.where(isInList(dialect, 'id', ids!)))
        .orderBy('id')
        .limit(rowsMax)
        .execute()
      await removeRows(
        trx,
        dialect,
        taken.map(({ id }) => id),
      )
      return insertCut(trx, merge(taken))
    })
    if (rows.length === 0) return
    await countRows(database, clock, rows)
  }
}

async function removeRows(trx: WriteTransaction, dialect: Dialect, ids: readonly string[]): Promise<number> {
  const { numDeletedRows } = await trx
    .deleteFrom('install_journal')
    .where(isInList(dialect, 'id', ids))
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/** Writes rows of an hour each, of neighbours by the ids of the skills, which is how they lie in the tables. */
async function insertCut(trx: WriteTransaction, merged: HourlyCounts): Promise<string[]> {
  const ids: string[] = []
  for (const [hour, ofHour] of Object.entries(merged)) {
    const skillIds = Object.keys(ofHour).toSorted()
    for (let i = 0; i < skillIds.length; i += skillsMax) {
      const part = skillIds.slice(i, i + skillsMax).map((id) => [id, ofHour[id]!] as const)
      const row = { id: newId(), counts: JSON.stringify({ [hour]: Object.fromEntries(part) }) }
      await trx.insertInto('install_journal').values(row).execute()
      ids.push(row.id)
    }
  }
  return ids
}

async function countRows(database: Database, clock: Clock, ids: readonly string[]): Promise<void> {
  for (const [i, id] of ids.entries()) {
    if (i > 0) await setTimeout(paceMs)
    await database.writer.write(async (trx) => {
      const row = await trx.deleteFrom('install_journal').where('id', '=', id).returning('counts').executeTakeFirst()
      // Another process may have been faster.
      if (row) await count(trx, database.dialect, JSON.parse(row.counts) as HourlyCounts, clock.now())
    })
  }
}

function merge(rows: readonly { counts: string }[]): HourlyCounts {
  const merged: HourlyCounts = {}
  for (const { counts } of rows) addCounts(merged, JSON.parse(counts) as HourlyCounts)
  return merged
}

/** Adds counts to others, in place. */
export function addCounts(to: HourlyCounts, added: HourlyCounts): void {
  for (const [hour, ofHour] of Object.entries(added)) {
    const sum = (to[hour] ??= {})
    for (const [skillId, installs] of Object.entries(ofHour)) sum[skillId] = (sum[skillId] ?? 0) + installs
  }
}

async function count(trx: WriteTransaction, dialect: Dialect, installs: HourlyCounts, at: number): Promise<void> {
  const now = await rollAllTrends(trx, toHour(at))
  for (const [hour, ofHour] of Object.entries(installs)) {
    const counts = new Map(Object.entries(ofHour))
    await addToBuckets(trx, dialect, Number(hour), counts)
    await addToTrends(trx, dialect, { hour: Number(hour), now, counts })
    await countDownloads(trx, dialect, counts, at)
  }
}

async function addToBuckets(
  trx: WriteTransaction,
  dialect: Dialect,
  hour: number,
  counts: ReadonlyMap<string, number>,
): Promise<void> {
  await sql`insert into install_hours (skill_id, hour, installs)
    select c.id, ${hour}, c.n from ${toCountTable(dialect, counts)} as c where true
    on conflict (hour, skill_id) do update set installs = install_hours.installs + excluded.installs`.execute(trx)
}
