import { sql } from 'kysely'
import type { CommunityContext } from './community-context.ts'
import type { Dialect } from '../storage/dialect.ts'
import { toCountTable } from '../storage/list-query.ts'
import type { WriteTransaction } from '../storage/writer.ts'

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
