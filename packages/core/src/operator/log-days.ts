import type { Overview } from '@skillstead/protocol'
import { sql } from 'kysely'
import { toDate, toDay } from '../community/download-days.ts'
import { dayMs } from '../kernel/clock.ts'
import type { StorageContext } from '../storage/storage-context.ts'

const shownDays = 30

/**
 * The number of entries of the public log on each of the last 30 days in UTC, today last. Entries have gapless numbers in
 * the order of their times, so that a binary search by number, the primary key, finds the last entry before each day: in
 * a log of a million entries, 20 look-ups a day.
 */
export async function countLogDays(
  { database, clock }: StorageContext,
  size: number,
): Promise<Overview['log']['days']> {
  const today = toDay(clock.now())
  const days = Array.from({ length: shownDays }, (_, i) => today - shownDays + 1 + i)
  const begins = days.map(
    (day) => sql`select cast(${day * dayMs} as bigint), cast(0 as bigint), cast(${size + 1} as bigint)`,
  )
  const { rows } = await sql<{ before: number }>`
    with recursive searched(start, low, high) as (
      select * from (${sql.join(begins, sql` union all `)}) as begins
      union all
      select start, case when at < start then seq else low end, case when at < start then high else seq end
      from searched inner join log on seq = (low + high) / 2 where high - low > 1
    )
    select max(low) as before from searched group by start order by start`.execute(database.read)
  const befores = [...rows.map(({ before }) => before), size]
  return days.map((day, i) => ({ day: toDate(day), entries: befores[i + 1]! - befores[i]! }))
}
