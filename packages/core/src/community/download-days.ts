import type { Downloads } from '@skillstead/protocol'
import { sql } from 'kysely'
import { getSkill } from '../catalogue/find-skill.ts'
import type { Caller } from '../kernel/caller.ts'
import type { Database } from '../storage/database.ts'
import type { Dialect } from '../storage/dialect.ts'
import { toCountTable } from '../storage/list-query.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import type { CommunityContext } from './community-context.ts'

const hoursOfDay = 24

/** GET /skills/<name>/downloads: every one of the last days in UTC, including those without downloads; today last. */
export async function showDownloads(
  context: CommunityContext,
  { name, days }: { name: string; days: number },
  caller: Caller,
): Promise<Downloads> {
  const { id } = await getSkill(context, name, caller)
  const today = toDay(context.clock.now())
  const wanted = Array.from({ length: days }, (_, i) => today - days + 1 + i)
  const downloads = await readDownloads(context.database, id, wanted)
  const installs = await readInstalls(context.database, id, wanted)
  const shown = wanted.map((day) => ({
    day: new Date(day * dayMs).toISOString().slice(0, 10),
    // Installs count as downloads; days from before daily counting have only installs.
    downloads: Math.max(downloads.get(day) ?? 0, installs.get(day) ?? 0),
    installs: installs.get(day) ?? 0,
  }))
  return { days: shown, total: shown.reduce((sum, day) => sum + day.downloads, 0) }
}

type Counts = ReadonlyMap<number, number>

async function readDownloads({ dialect, read }: Database, skillId: string, days: readonly number[]): Promise<Counts> {
  const { rows } = await sql<{ day: number; n: number }>`select day, downloads as n from download_days
    where skill_id = ${skillId} and ${isOneOf(dialect, 'day', days)}`.execute(read)
  return new Map(rows.map(({ day, n }) => [day, n]))
}

/** In one statement, since hourly buckets are merged into days concurrently. */
async function readInstalls({ dialect, read }: Database, skillId: string, days: readonly number[]): Promise<Counts> {
  const hours = days.flatMap((day) => Array.from({ length: hoursOfDay }, (_, i) => day * hoursOfDay + i))
  const { rows } = await sql<{ day: number; n: number }>`
    select day, installs as n from install_days
      where skill_id = ${skillId} and ${isOneOf(dialect, 'day', days)}
    union all select hour / ${sql.lit(hoursOfDay)}, installs from install_hours
      where skill_id = ${skillId} and ${isOneOf(dialect, 'hour', hours)}`.execute(read)
  const counts = new Map<number, number>()
  for (const { day, n } of rows) counts.set(day, (counts.get(day) ?? 0) + n)
  return counts
}

/** Each number separately: the key begins with the time, so a range would read the rows of all skills in it. */
function isOneOf(dialect: Dialect, column: string, numbers: readonly number[]) {
  const json = JSON.stringify(numbers)
  return dialect === 'sqlite'
    ? sql`${sql.ref(column)} in (select value from json_each(${json}))`
    : sql`${sql.ref(column)} = any(array(select json_array_elements_text(${json}::json)::bigint))`
}

export const dayMs = 24 * 60 * 60 * 1000
/** A year and the current day: the API returns no more. */
const keptDays = 366

/** A day as whole days since 1970, in UTC. */
export function toDay(epochMs: number): number {
  return Math.floor(epochMs / dayMs)
}

/** Adds downloads, by skill id, to the day on which they happened. */
export async function addToDays(
  trx: WriteTransaction,
  dialect: Dialect,
  counts: ReadonlyMap<string, number>,
  at: number,
): Promise<void> {
  await sql`insert into download_days (skill_id, day, downloads)
    select c.id, ${toDay(at)}, c.n from ${toCountTable(dialect, counts)} as c where true
    on conflict (day, skill_id) do update set downloads = download_days.downloads + excluded.downloads`.execute(trx)
}

/** Deletes days that the API no longer returns. */
export async function sweepDays({ database, clock }: Pick<CommunityContext, 'database' | 'clock'>): Promise<void> {
  await database.writer.write(async (trx) => {
    await trx
      .deleteFrom('download_days')
      .where('day', '<', toDay(clock.now()) - keptDays)
      .execute()
  })
}
