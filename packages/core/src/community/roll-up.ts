import { sql } from 'kysely'
import type { CommunityContext } from './community-context.ts'
import { periodHours, toHour } from './trends.ts'
import { rollAllTrends } from './trend-windows.ts'

const hoursOfDay = 24
/** Hours older than any current or previous period. */
const keptHours = 2 * periodHours.month

/** Merges hourly buckets that are no longer needed into days, one day at a time. */
export async function rollUpInstalls(context: Pick<CommunityContext, 'database' | 'clock'>): Promise<void> {
  while (await rollUpDay(context));
}

async function rollUpDay({ database, clock }: Pick<CommunityContext, 'database' | 'clock'>): Promise<boolean> {
  const { oldest } = await database.read
    .selectFrom('install_hours')
    .select((eb) => eb.fn.min<number | null>('hour').as('oldest'))
    .executeTakeFirstOrThrow()
  if (oldest === null) return false
  const day = Math.floor(oldest / hoursOfDay)
  const end = (day + 1) * hoursOfDay
  const now = toHour(clock.now())
  if (end > now - keptHours) return false
  await database.writer.write(async (trx) => {
    // Windows that still contain these hours must drop them while the buckets exist.
    await rollAllTrends(trx, now)
    await sql`insert into install_days (skill_id, day, installs)
      select skill_id, ${day}, cast(sum(installs) as bigint) from install_hours
      where hour >= ${day * hoursOfDay} and hour < ${end} group by skill_id
      on conflict (day, skill_id) do update set installs = install_days.installs + excluded.installs`.execute(trx)
    await trx.deleteFrom('install_hours').where('hour', '<', end).execute()
  })
  return true
}
