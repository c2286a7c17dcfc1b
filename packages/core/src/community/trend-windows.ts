import type { Kysely } from 'kysely'
import type { TrendRow } from '../storage/rows-usage.ts'
import type { Tables } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { periodHours, rebuildTrends, rollTrends } from './trends.ts'

type Period = TrendRow['period']
const periods = Object.keys(periodHours) as Period[]

/** The maximum clock difference between nodes, in hours: windows further ahead were moved by a wrong clock. */
const skewHoursMax = 2

/** Whether the windows of a period must be moved before they are read in an hour. */
export async function areWindowsStale(db: Kysely<Tables>, period: Period, hour: number): Promise<boolean> {
  const stands = await findStand(db, period)
  return stands !== undefined && !isCurrent(stands, hour)
}

/** Moves the windows of every period to an hour. Returns their hour, which may be later. */
export async function rollAllTrends(trx: WriteTransaction, hour: number): Promise<number> {
  let latest = hour
  for (const period of periods) {
    const stands = await findStand(trx, period)
    if (stands !== undefined && isCurrent(stands, hour)) {
      latest = Math.max(latest, stands)
      continue
    }
    if (stands !== undefined && stands > hour) await rebuildTrends(trx, period, hour)
    else if (stands !== undefined) await rollTrends(trx, period, stands, hour)
    const row = { key: keyOf(period), value: String(hour) }
    await trx
      .insertInto('meta')
      .values(row)
      .onConflict((conflict) => conflict.column('key').doUpdateSet(row))
      .execute()
  }
  return latest
}

function isCurrent(stands: number, hour: number): boolean {
  return stands >= hour && stands <= hour + skewHoursMax
}

/** The hour to which the windows of a period were last moved; undefined before the first install. */
async function findStand(db: Kysely<Tables>, period: Period): Promise<number | undefined> {
  const row = await db.selectFrom('meta').select('value').where('key', '=', keyOf(period)).executeTakeFirst()
  return row && Number(row.value)
}

function keyOf(period: Period): string {
  return `trends.${period}`
}
