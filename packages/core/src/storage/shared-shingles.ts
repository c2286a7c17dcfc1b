import { sql, type Kysely, type RawBuilder } from 'kysely'
import { type Param, compileQuery, compileWrite } from './compiled-query.ts'
import type { Dialect } from './dialect.ts'
import type { Tables } from './tables.ts'
import type { WriteTransaction } from './writer.ts'

/** Maximum number of skills that are stored and read for a shingle. A shingle of more skills is no sign of copying. */
export const skillsPerShingleMax = 128
const groupsMax = 512

/** A shingle of a skill, with the first version of the skill that has this shingle. */
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
export const insertSketch = compileWrite((db, param: Param<{ versionId: string; shingleCount: number }>) =>
  db
    .insertInto('version_sketches')
    .values({ version_id: param('versionId'), shingles: param('shingleCount') })
    .onConflict((conflict) => conflict.column('version_id').doNothing()),
)

/** Deletes the queued shingles of the sketches with numbers up to `last`. */
export async function removeWaiting(trx: WriteTransaction, last: number): Promise<void> {
  await trx.deleteFrom('waiting_sketches').where('sketch_num', '<=', last).execute()
}

/** Queues the shingles of a version that has a number, unless they are queued. */
export const insertWaiting = compileWrite(
  (db, param: Param<{ versionId: string; shingles: Buffer; skillId: string }>) =>
    db
      .insertInto('waiting_sketches')
      .columns(['sketch_num', 'shingles', 'skill_num'])
      .expression((eb) =>
        eb
          .selectFrom(['version_sketches', 'skills'])
          .select(['version_sketches.num', sql<Buffer>`${param('shingles')}`.as('shingles'), 'skills.num as skill_num'])
          .where('version_id', '=', param('versionId'))
          .where('skills.id', '=', param('skillId')),
      )
      .onConflict((conflict) => conflict.column('sketch_num').doNothing()),
)

/**
 * Inserts shingles into `shared_shingles`. A shingle that the skill already has stays unchanged. Sorted input is
 * cheapest.
 */
export async function putShingles(
  db: Kysely<Tables>,
  dialect: Dialect,
  entries: readonly SharedShingle[],
): Promise<void> {
  await sql`insert into shared_shingles (shingle, skill_num, sketch_num)
    select given.shingle, given.skill_num, given.sketch_num from (${selectShingleEntries(dialect, toEntryTexts(dialect, entries))}) as given
    where not exists (select 1 from shared_shingles as there where there.shingle = given.shingle
      limit 1 offset ${sql.lit(skillsPerShingleMax - 1)})
    on conflict do nothing`.execute(db)
}

/**
 * Finds the skills that share any of these shingles, including queued entries. If there are too many skills, returns
 * those that share the rarest shingles.
 */
export async function findShared(
  db: Kysely<Tables>,
  dialect: Dialect,
  shingles: readonly number[],
  waiting: readonly SharedShingle[],
): Promise<SharedGroup[]> {
  if (shingles.length === 0) return []
  const select = compiledShared[dialect][waiting.length === 0 ? 'entered' : 'all']
  return select(db, { shingles: numberTexts[dialect](shingles), ...toEntryTexts(dialect, waiting) })
}

function compileShared(selectHits: (param: Param<HitTexts>) => RawBuilder<unknown>) {
  return compileQuery(
    (_, param: Param<HitTexts>) => sql<SharedGroup>`with hits as (${selectHits(param)}
      ), frequencies as (select shingle, count(*) as skills from hits group by shingle
      ), sharers as (
        select skill_num, sketch_num, count(*) as shared, sum(1.0 / skills) as weight
        from hits inner join frequencies on frequencies.shingle = hits.shingle
        group by skill_num, sketch_num
        order by weight desc, sketch_num limit ${sql.lit(groupsMax)}
      )
      select skill_num, sketch_num, shared, version_sketches.shingles
      from sharers inner join version_sketches on version_sketches.num = sharers.sketch_num
      order by weight desc, sketch_num`,
  )
}

function compileSharedOf(dialect: Dialect) {
  // A queued entry may also be in the table: the process that inserted the entry may not have announced the insertion
  // yet.
  const selectAll = (param: Param<HitTexts>) => sql`select shingle, skill_num, min(sketch_num) as sketch_num
    from (${selectEntered(dialect, param('shingles'))} union all ${selectShingleEntries(dialect, { shingle: param('shingle'), skill_num: param('skill_num'), sketch_num: param('sketch_num'), rows: param('rows') })}) as entered_or_waiting
    group by shingle, skill_num`
  return {
    entered: compileShared((param) => selectEntered(dialect, param('shingles'))),
    all: compileShared(selectAll),
  }
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
  const { rows } = await sql<SharedShingle>`${selectEntered(dialect, numberTexts[dialect](shingles))}
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

/** The pending versions after a `sketch_num`, in order. */
export const selectWaitingSketches = compileQuery((db, param: Param<{ after: number }>) =>
  db.selectFrom('waiting_sketches').selectAll().where('sketch_num', '>', param('after')).orderBy('sketch_num'),
)

/** Numbers as one parameter, so that the statement has the same text for any number of them. */
const numberTexts = {
  sqlite: (numbers: readonly number[]) => JSON.stringify(numbers),
  postgres: (numbers: readonly number[]) => `{${numbers.join()}}`,
}

function selectEntered(dialect: Dialect, shingles: string | RawBuilder<string>): RawBuilder<unknown> {
  const given =
    dialect === 'sqlite'
      ? sql`json_each(${shingles}) as given`
      : sql`unnest(${toBigintArray(shingles)}) as given (value)`
  return sql`select shingle, skill_num, sketch_num from shared_shingles
    where shingle in (select given.value from ${given})`
}

/** A PostgreSQL array as one text, because the driver would escape each number of an array. */
function toBigintArray(numbers: string | RawBuilder<string>): RawBuilder<number[]> {
  return sql`cast(cast(${numbers} as text) as bigint[])`
}

/**
 * Entries as parameters of a statement: for PostgreSQL an array for each column, for SQLite JSON (`rows`). Fields for
 * the other database are empty.
 */
interface EntryTexts {
  readonly shingle: string
  readonly skill_num: string
  readonly sketch_num: string
  readonly rows: string
}
type HitTexts = EntryTexts & { readonly shingles: string }

function toEntryTexts(dialect: Dialect, entries: readonly SharedShingle[]): EntryTexts {
  if (dialect === 'sqlite') {
    const rows = entries.map(({ shingle, skill_num, sketch_num }) => [shingle, skill_num, sketch_num])
    return { shingle: '', skill_num: '', sketch_num: '', rows: JSON.stringify(rows) }
  }
  const toColumn = (name: keyof SharedShingle) => numberTexts.postgres(entries.map((entry) => entry[name]))
  return {
    shingle: toColumn('shingle'),
    skill_num: toColumn('skill_num'),
    sketch_num: toColumn('sketch_num'),
    rows: '',
  }
}

function selectShingleEntries(
  dialect: Dialect,
  { shingle, skill_num, sketch_num, rows }: Readonly<Record<keyof EntryTexts, string | RawBuilder<string>>>,
): RawBuilder<unknown> {
  if (dialect === 'postgres') {
    return sql`select shingle, skill_num, sketch_num
      from unnest(${toBigintArray(shingle)}, ${toBigintArray(skill_num)}, ${toBigintArray(sketch_num)})
      as entry (shingle, skill_num, sketch_num)`
  }
  return sql`select value ->> 0 as shingle, value ->> 1 as skill_num, value ->> 2 as sketch_num from json_each(${rows})`
}

const compiledShared = { sqlite: compileSharedOf('sqlite'), postgres: compileSharedOf('postgres') }
