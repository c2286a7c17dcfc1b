import { setTimeout } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Clock } from '../clock.ts'
import { newId } from '../ids.ts'
import { toCountTable } from '../storage/count-table.ts'
import type { Database, Dialect } from '../storage/database.ts'
import { keepListQuery } from '../storage/list-query.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { countDownloads } from './count-downloads.ts'
import type { HourlyCounts } from './telemetry.ts'
import { addToTrends, toHour } from './trends.ts'
import { rollAllTrends } from './windows.ts'

/** Skills that are counted in one transaction, so that none holds the event loop for long. */
const skillsMax = 128
/** Between two of them, for those who wait for an answer meanwhile. */
const paceMs = 5
/** Rows that are sorted at a time; what comes meanwhile waits for the next time. */
const rowsMax = 5000

/**
 * Folds the journal into the hourly buckets, what trends and the downloads. Rows come in the order of the installs, in
 * which each would touch pages all over the tables; so they are first put together and cut anew in the order of the
 * skills. A row and its counts change in one transaction, so that an install is counted once whatever happens. Tells
 * whether there is more than could be sorted at a time.
 */
export async function foldJournal(database: Database, clock: Clock): Promise<boolean> {
  const { ids, more } = await sortJournal(database)
  for (const [i, id] of ids.entries()) {
    if (i > 0) await setTimeout(paceMs)
    await database.writer.write(async (trx) => {
      const row = await trx.deleteFrom('install_journal').where('id', '=', id).returning('counts').executeTakeFirst()
      // Another process may have been faster.
      if (row) await count(trx, database.dialect, JSON.parse(row.counts) as HourlyCounts, clock.now())
    })
  }
  return more
}

/** Cuts the journal anew, each row a stretch of the skills. Returns the ids of its rows. */
async function sortJournal(database: Database): Promise<{ ids: string[]; more: boolean }> {
  const waiting = await database.read.selectFrom('install_journal').selectAll().limit(rowsMax).execute()
  if (waiting.length < 2) return { ids: waiting.map(({ id }) => id), more: false }
  const owners = await readOwners(database, merge(waiting))
  return database.writer.write(async (trx) => {
    const rows = await trx.selectFrom('install_journal').selectAll().orderBy('id').limit(rowsMax).execute()
    if (rows.length === 0) return { ids: [], more: false }
    await trx.deleteFrom('install_journal').where('id', '<=', rows.at(-1)!.id).execute()
    const sorted = cut(merge(rows), owners).map((counts) => ({ id: newId(), counts: JSON.stringify(counts) }))
    for (const row of sorted) await trx.insertInto('install_journal').values(row).execute()
    return { ids: sorted.map(({ id }) => id), more: rows.length === rowsMax }
  })
}

function merge(rows: readonly { counts: string }[]): HourlyCounts {
  const merged: HourlyCounts = {}
  for (const { counts } of rows) {
    for (const [hour, ofHour] of Object.entries(JSON.parse(counts) as HourlyCounts)) {
      const sum = (merged[hour] ??= {})
      for (const [skillId, installs] of Object.entries(ofHour)) sum[skillId] = (sum[skillId] ?? 0) + installs
    }
  }
  return merged
}

const selectOwners = keepListQuery<{ id: string; owner_id: string }>((db, lists) =>
  db.selectFrom('skills').select(['id', 'owner_id']).where(lists.has('id')),
)

async function readOwners(database: Database, installs: HourlyCounts): Promise<Map<string, string>> {
  const ids = new Set(Object.values(installs).flatMap(Object.keys))
  const rows = await selectOwners(database, ids)
  return new Map(rows.map(({ id, owner_id }) => [id, owner_id]))
}

/** Parts of an hour each, of neighbours: skills lie in the order of their ids, and their owners' standings likewise. */
function cut(merged: HourlyCounts, owners: ReadonlyMap<string, string>): HourlyCounts[] {
  const keyOf = (id: string) => `${owners.get(id) ?? ''} ${id}`
  return Object.entries(merged).flatMap(([hour, ofHour]) => {
    const ids = Object.keys(ofHour)
      .map((id) => ({ id, key: keyOf(id) }))
      .toSorted((a, b) => (a.key < b.key ? -1 : 1))
    const parts: HourlyCounts[] = []
    for (let i = 0; i < ids.length; i += skillsMax) {
      const part = ids.slice(i, i + skillsMax).map(({ id }) => [id, ofHour[id]!] as const)
      parts.push({ [hour]: Object.fromEntries(part) })
    }
    return parts
  })
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
