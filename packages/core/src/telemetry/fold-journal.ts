import { sql } from 'kysely'
import { toCountTable } from '../storage/count-table.ts'
import type { Database, Dialect } from '../storage/database.ts'
import type { TrendRow } from '../storage/rows-usage.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { countDownloads } from './count-downloads.ts'
import type { HourlyCounts } from './telemetry.ts'
import { addToTrends, periodHours, rollTrends, toHour } from './trends.ts'

/** Skills that are counted in one transaction, so that none holds the event loop for long, and rows read for them. */
const skillsMax = 64
const rowsMax = 32

/**
 * Folds a part of the journal into the hourly buckets, what trends and the downloads. Row and counts change in one
 * transaction, so that an install is counted once whatever happens. Tells whether there may be more.
 */
export async function foldJournal(database: Database, now: number): Promise<boolean> {
  const { dialect } = database
  const waiting = await database.read.selectFrom('install_journal').select('id').limit(1).executeTakeFirst()
  if (!waiting) return false
  return database.writer.write(async (trx) => {
    const rows = await trx.selectFrom('install_journal').selectAll().orderBy('id').limit(rowsMax).execute()
    const { taken, hours } = gather(rows)
    if (taken.length === 0) return false
    await trx.deleteFrom('install_journal').where('id', 'in', taken).execute()
    const hour = await rollAllTrends(trx, toHour(now))
    const total = new Map<string, number>()
    for (const [ofHour, counts] of hours) {
      await addToBuckets(trx, dialect, Number(ofHour), counts)
      await addToTrends(trx, dialect, { hour: Number(ofHour), now: hour, counts })
      for (const [skillId, count] of counts) total.set(skillId, (total.get(skillId) ?? 0) + count)
    }
    await countDownloads(trx, dialect, total, now)
    return taken.length < rows.length || rows.length === rowsMax
  })
}

/** As many rows as have `skillsMax` skills together, and their sum. */
function gather(rows: readonly { id: string; counts: string }[]) {
  const hours = new Map<string, Map<string, number>>()
  const taken: string[] = []
  let skills = 0
  for (const { id, counts } of rows) {
    if (taken.length > 0 && skills >= skillsMax) break
    taken.push(id)
    for (const [hour, ofHour] of Object.entries(JSON.parse(counts) as HourlyCounts)) {
      const sum = hours.get(hour) ?? new Map<string, number>()
      hours.set(hour, sum)
      for (const [skillId, count] of Object.entries(ofHour)) sum.set(skillId, (sum.get(skillId) ?? 0) + count)
      skills += Object.keys(ofHour).length
    }
  }
  return { taken, hours }
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

const markerOf = (period: string) => `trends.${period}`

/** Rolls the windows of every period to an hour. Tells where they stand: never behind, also where a clock went back. */
export async function rollAllTrends(trx: WriteTransaction, hour: number): Promise<number> {
  let stands = hour
  for (const period of Object.keys(periodHours) as TrendRow['period'][]) {
    const marker = await trx.selectFrom('meta').select('value').where('key', '=', markerOf(period)).executeTakeFirst()
    const from = marker ? Number(marker.value) : hour
    stands = Math.max(stands, from)
    if (marker && from >= hour) continue
    await rollTrends(trx, period, from, hour)
    const row = { key: markerOf(period), value: String(hour) }
    await trx
      .insertInto('meta')
      .values(row)
      .onConflict((conflict) => conflict.column('key').doUpdateSet(row))
      .execute()
  }
  return stands
}
