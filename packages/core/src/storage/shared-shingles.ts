import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { Dialect } from './database.ts'
import type { Tables } from './tables.ts'
import type { WriteTransaction } from './writer.ts'

/** What so many skills say is no sign of copying; the first to say it are kept, and no more are read. */
const skillsPerShingleMax = 128
const groupsMax = 512

/** Shingles that a skill shares with a text, by the version of it that had them first. */
export interface SharedGroup {
  readonly skill_num: number
  readonly sketch_num: number
  readonly shared: number
  /** How many shingles that version has in all. */
  readonly shingles: number
}

/** Enters the shingles that are new to a skill. */
export async function putShingles(
  trx: WriteTransaction,
  dialect: Dialect,
  entry: { skillId: string; sketchNum: number; shingles: readonly number[] },
): Promise<void> {
  const { skillId, sketchNum, shingles } = entry
  if (shingles.length === 0) return
  await sql`insert into shared_shingles (shingle, skill_num, sketch_num)
    select given.value, skills.num, cast(${sketchNum} as bigint)
    from skills cross join ${toTable(dialect, shingles)}
    where skills.id = ${skillId} and not exists (select 1 from shared_shingles as there where there.shingle = given.value
      limit 1 offset ${sql.lit(skillsPerShingleMax - 1)})
    on conflict do nothing`.execute(trx)
}

/** Who shares any of these shingles; where that are very many, those whose shared ones few others have. */
export async function findShared(
  db: Kysely<Tables>,
  dialect: Dialect,
  shingles: readonly number[],
): Promise<SharedGroup[]> {
  if (shingles.length === 0) return []
  const { rows } = await sql<SharedGroup>`with hits as (
      select shingle, skill_num, sketch_num from shared_shingles
      where shingle in (select given.value from ${toTable(dialect, shingles)})
    ), frequencies as (select shingle, count(*) as skills from hits group by shingle
    ), sharers as (
      select skill_num, sketch_num, count(*) as shared, sum(1.0 / skills) as weight
      from hits inner join frequencies on frequencies.shingle = hits.shingle
      group by skill_num, sketch_num
      order by weight desc, sketch_num limit ${sql.lit(groupsMax)}
    )
    select skill_num, sketch_num, shared, version_sketches.shingles
    from sharers inner join version_sketches on version_sketches.num = sharers.sketch_num
    order by weight desc, sketch_num`.execute(db)
  return rows
}

/** One parameter for any number of them, so that the statement stays the same. */
function toTable(dialect: Dialect, numbers: readonly number[]): RawBuilder<unknown> {
  return dialect === 'sqlite'
    ? sql`json_each(${JSON.stringify(numbers)}) as given`
    : sql`unnest(cast(${numbers} as bigint[])) as given (value)`
}

/** Which of some skills have which of these shingles, and since which of their versions. */
export async function readHolders(
  db: Kysely<Tables>,
  dialect: Dialect,
  shingles: readonly number[],
  skillNums: readonly number[],
): Promise<Tables['shared_shingles'][]> {
  if (shingles.length === 0 || skillNums.length === 0) return []
  const { rows } = await sql<Tables['shared_shingles']>`select shingle, skill_num, sketch_num from shared_shingles
    where shingle in (select given.value from ${toTable(dialect, shingles)})
    and skill_num in (${sql.join(skillNums)})`.execute(db)
  return rows
}
