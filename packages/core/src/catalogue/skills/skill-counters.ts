import { sql } from 'kysely'
import type { Dialect } from '../../storage/dialect.ts'
import { toCountTable } from '../../storage/list-query.ts'
import { increment } from '../../storage/table-rows.ts'
import type { SkillRow } from '../../storage/tables.ts'
import type { WriteTransaction } from '../../storage/writer.ts'

/** The columns of a skill that count other users' contributions. */
export type Credits = Pick<SkillRow, 'credited_stars' | 'credited_reviews' | 'credited_points'>

/** Adds to the credits of a skill. */
export function addCredits(trx: WriteTransaction, skillId: string, steps: Credits): Promise<void> {
  return increment(trx, 'skills', skillId, steps)
}

/** Stores recounted credits of a skill. */
export async function setCredits(trx: WriteTransaction, skillId: string, credits: Credits): Promise<void> {
  await trx.updateTable('skills').set(credits).where('id', '=', skillId).execute()
}

/** Counts an agent that installed or removed the given skills: `count` is 1 or -1. */
export async function changeAgentInstalls(
  trx: WriteTransaction,
  skillIds: readonly string[],
  count: 1 | -1,
): Promise<void> {
  if (skillIds.length === 0) return
  await trx
    .updateTable('skills')
    .set((eb) => ({ agent_installs: eb('agent_installs', '+', count) }))
    .where('id', 'in', skillIds)
    .execute()
}

/** Adds downloads by skill id, in one statement. */
export async function addDownloads(trx: WriteTransaction, dialect: Dialect, counts: ReadonlyMap<string, number>) {
  await sql`update skills set downloads = downloads + c.n from ${toCountTable(dialect, counts)} as c
    where skills.id = c.id`.execute(trx)
}
