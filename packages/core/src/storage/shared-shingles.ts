import { sql, type Kysely, type RawBuilder } from 'kysely'
import { compileQuery, compileWrite } from './compiled-query.ts'
import type { Dialect } from './dialect.ts'
import type { Tables } from './tables.ts'
import type { WriteTransaction } from './writer.ts'

/** A shingle that this many skills share is no sign of copying; only the first of them are stored and read. */
export const skillsPerShingleMax = 128
const groupsMax = 512

/** A shingle of a skill, with the first of its versions that has it. */
export type SharedShingle = Tables['shared_shingles']
/** A version whose shingles are not in `shared_shingles` yet, {@link packShingles packed}. */
export type WaitingSketch = Tables['waiting_sketches']

/** The number of shingles that a skill shares with a text, by the version of the skill that had them first. */
export interface SharedGroup {
  readonly skill_num: number
  readonly sketch_num: number
  readonly shared: number
  /** Total number of shingles of that version. */
  readonly shingles: number
}

/** Encodes shingles as doubles of eight bytes each. */
export function packShingles(shingles: readonly number[]): Buffer {
  return Buffer.from(Float64Array.from(shingles).buffer)
}

/** Decodes {@link packShingles}. Copies the bytes, because those of a row may not be aligned for doubles. */
export function unpackShingles(packed: Uint8Array): Float64Array {
  return new Float64Array(new Uint8Array(packed).buffer)
}

/** Assigns a number to a version; does nothing if it has one. */
export const insertSketch = compileWrite((db, sketch: { versionId: string; shingleCount: number }) =>
  db
    .insertInto('version_sketches')
    .values({ version_id: sketch.versionId, shingles: sketch.shingleCount })
    .onConflict((conflict) => conflict.column('version_id').doNothing()),
)

/** Deletes the queued shingles of sketches up to a number. */
export async function removeWaiting(trx: WriteTransaction, last: number): Promise<void> {
  await trx.deleteFrom('waiting_sketches').where('sketch_num', '<=', last).execute()
}

/** Queues the shingles of a version that has a number, unless they are queued. */
export const insertWaiting = compileWrite((db, sketch: { versionId: string; shingles: Buffer; skillId: string }) =>
  db
    .insertInto('waiting_sketches')
    .columns(['sketch_num', 'shingles', 'skill_num'])
    .expression((eb) =>
      eb
        .selectFrom(['version_sketches', 'skills'])
        .select(['version_sketches.num', sql<Buffer>`${sketch.shingles}`.as('shingles'), 'skills.num as skill_num'])
        .where('version_id', '=', sketch.versionId)
        .where('skills.id', '=', sketch.skillId),
    )
    .onConflict((conflict) => conflict.column('sketch_num').doNothing()),
)

/**
 * Inserts shingles into `shared_shingles`. A shingle that the skill already has stays unchanged. Sorted input is
 * cheapest.
 */
export async function putShingles(
  trx: WriteTransaction,
  dialect: Dialect,
  entries: readonly SharedShingle[],
): Promise<void> {
  await sql`insert into shared_shingles (shingle, skill_num, sketch_num)
    select given.shingle, given.skill_num, given.sketch_num from (${toEntries(dialect, entries)}) as given
    where not exists (select 1 from shared_shingles as there where there.shingle = given.shingle
      limit 1 offset ${sql.lit(skillsPerShingleMax - 1)})
    on conflict do nothing`.execute(trx)
}

/**
 * Finds the skills that share any of these shingles, including queued entries. If there are too many, returns those
 * that share the rarest shingles.
 */
export async function findShared(
  db: Kysely<Tables>,
  dialect: Dialect,
  shingles: readonly number[],
  waiting: readonly SharedShingle[],
): Promise<SharedGroup[]> {
  if (shingles.length === 0) return []
  const { rows } = await sql<SharedGroup>`with hits as (${selectHits(dialect, shingles, waiting)}
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

/**
 * Reads which of the given skills have which of these shingles, and since which version. Queued entries are not
 * included.
 */
export async function readHolders(
  db: Kysely<Tables>,
  dialect: Dialect,
  shingles: readonly number[],
  skillNums: readonly number[],
): Promise<SharedShingle[]> {
  if (shingles.length === 0 || skillNums.length === 0) return []
  const { rows } = await sql<SharedShingle>`${selectEntered(dialect, shingles)}
    and skill_num in (${sql.join(skillNums)})`.execute(db)
  return rows
}

/** The shingles that already have the maximum number of skills. */
export async function findCrowded(db: Kysely<Tables>, shingles: readonly number[]): Promise<number[]> {
  const rows = await db
    .selectFrom('shared_shingles')
    .select('shingle')
    .where('shingle', 'in', shingles)
    .groupBy('shingle')
    .having((eb) => eb.fn.countAll(), '>=', skillsPerShingleMax)
    .execute()
  return rows.map(({ shingle }) => shingle)
}

/** The queued versions after a number, in order. */
export const selectWaiting = compileQuery((db, { after }: { after: number }) =>
  db.selectFrom('waiting_sketches').selectAll().where('sketch_num', '>', after).orderBy('sketch_num'),
)

/** A queued entry may also be in the table: the process that inserted it may not have announced that yet. */
function selectHits(dialect: Dialect, shingles: readonly number[], waiting: readonly SharedShingle[]) {
  if (waiting.length === 0) return selectEntered(dialect, shingles)
  return sql`select shingle, skill_num, min(sketch_num) as sketch_num
    from (${selectEntered(dialect, shingles)} union all ${toEntries(dialect, waiting)}) as entered_or_waiting
    group by shingle, skill_num`
}

function selectEntered(dialect: Dialect, shingles: readonly number[]): RawBuilder<unknown> {
  return sql`select shingle, skill_num, sketch_num from shared_shingles
    where shingle in (select given.value from ${toTable(dialect, shingles)})`
}

/** One parameter for any number of values, so that the statement text stays the same. */
function toTable(dialect: Dialect, numbers: readonly number[]): RawBuilder<unknown> {
  return dialect === 'sqlite'
    ? sql`json_each(${JSON.stringify(numbers)}) as given`
    : sql`unnest(${toArray(numbers)}) as given (value)`
}

/** An array of PostgreSQL as one text: the driver would escape each number. */
function toArray(numbers: readonly number[]): RawBuilder<number[]> {
  return sql`cast(cast(${`{${numbers.join()}}`} as text) as bigint[])`
}

/** As {@link toTable}, with three columns. */
function toEntries(dialect: Dialect, entries: readonly SharedShingle[]): RawBuilder<unknown> {
  if (dialect === 'postgres') {
    const columns = (['shingle', 'skill_num', 'sketch_num'] as const).map((name) => entries.map((entry) => entry[name]))
    return sql`select shingle, skill_num, sketch_num from unnest(${sql.join(columns.map(toArray))})
      as entry (shingle, skill_num, sketch_num)`
  }
  const rows = entries.map(({ shingle, skill_num, sketch_num }) => [shingle, skill_num, sketch_num])
  return sql`select value ->> 0 as shingle, value ->> 1 as skill_num, value ->> 2 as sketch_num
    from json_each(${JSON.stringify(rows)})`
}
