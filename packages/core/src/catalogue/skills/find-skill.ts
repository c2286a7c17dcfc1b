import { isRegistryError, RegistryError } from '@skillstead/protocol'
import type { StorageContext } from '../../storage/storage-context.ts'
import type { Caller } from '../../kernel/caller.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'
import { compileQuery, type Param } from '../../storage/compiled-query.ts'
import type { SkillRow } from '../../storage/tables.ts'
import type { WriteTransaction } from '../../storage/writer.ts'
import { canSee, type Visible } from '../../visibility/decisions.ts'

/** Thrown for a full name that the skill had before a transfer. */
export class SkillMoved extends Error {
  readonly fullName: string

  constructor(fullName: string) {
    super(`The skill is now ${fullName}.`)
    this.name = 'SkillMoved'
    this.fullName = fullName
  }
}

/** The row of the skill with a full name, or none. */
export const selectByFullName = compileQuery((db, param: Param<{ fullName: string }>) =>
  db.selectFrom('skills').selectAll().where('full_name', '=', param('fullName')),
)
/** The row of the skill that holds a short name, or none. */
export const selectByHolder = compileQuery((db, param: Param<{ name: string }>) =>
  db
    .selectFrom('holders')
    .innerJoin('skills', 'skills.id', 'holders.skill_id')
    .selectAll('skills')
    .where('holders.name', '=', param('name')),
)
/** The row of the skill that had a full name before a transfer, or none. */
export const selectByAlias = compileQuery((db, param: Param<{ fullName: string }>) =>
  db
    .selectFrom('aliases')
    .innerJoin('skills', 'skills.id', 'aliases.skill_id')
    .selectAll('skills')
    .where('aliases.full_name', '=', param('fullName')),
)

/**
 * The skill with a name, if the caller may see it. `ref` is `owner/name`, or a short name, which means the caller's own
 * skill with that name, else the holder of the short name. Throws `not_found`, `taken_down`, or {@link SkillMoved} for
 * a full name from before a transfer.
 */
export async function getSkill(context: StorageContext, ref: string, caller: Caller): Promise<SkillRow> {
  return requireFound(await findSkill(context, ref, caller), ref)
}

/** Throws `not_found` if {@link findSkill} found no skill. */
export function requireFound<Row>(skill: Row | undefined, ref: string): Row {
  if (skill) return skill
  throw new RegistryError('not_found', `There is no skill '${ref}' that you may see.`)
}

/**
 * Reads a previously found skill again, within the transaction: since then it may have been deleted, hidden, taken down
 * or made private, or have a new version or owner. Throws `not_found` and `taken_down`.
 */
export async function getSkillNow(
  context: CatalogueContext,
  trx: WriteTransaction,
  found: Pick<SkillRow, 'id'>,
  caller: Caller,
): Promise<SkillRow> {
  const skill = await trx.selectFrom('skills').selectAll().where('id', '=', found.id).executeTakeFirstOrThrow()
  const inside: CatalogueContext = { ...context, database: { ...context.database, read: trx } }
  if (await canSee(inside, skill, caller)) return skill
  throw new RegistryError('not_found', `There is no skill '${skill.full_name}' any more that you may see.`)
}

/** As {@link getSkill}, but returns undefined if the skill does not exist or the caller may not see it. */
export function findSkill(context: StorageContext, ref: string, caller: Caller): Promise<SkillRow | undefined> {
  return findSkillBy(toFindNamed(context), context, ref, caller)
}

function toFindNamed({ database: { read } }: StorageContext) {
  return async (fullName: string): Promise<SkillRow | undefined> => (await selectByFullName(read, { fullName }))[0]
}

/**
 * As {@link findSkill}, with other columns for a skill that is found by its full name. `whenMoved` receives the skill
 * of a full name from before a transfer. Default: throws {@link SkillMoved}.
 */
export async function findSkillBy<Row extends Visible>(
  findNamed: (fullName: string) => Promise<Row | undefined>,
  context: StorageContext,
  ref: string,
  caller: Caller,
  whenMoved: (skill: SkillRow) => SkillRow = redirect,
): Promise<Row | SkillRow | undefined> {
  const { read } = context.database
  const isShort = !ref.includes('/')
  // A short name means the caller's own skill, even a private one, and even if another skill holds the name.
  const fullName = !isShort ? ref : caller.kind === 'user' ? `${caller.username}/${ref}` : undefined
  const named = fullName === undefined ? undefined : await findNamed(fullName)
  if (named && (await canSee(context, named, caller))) return named
  const [holder] = isShort ? await selectByHolder(read, { name: ref }) : []
  if (holder && (await canSee(context, holder, caller))) return holder
  if (named || fullName === undefined) return undefined
  const [moved] = await selectByAlias(read, { fullName })
  return moved && (await canSee(context, moved, caller)) ? whenMoved(moved) : undefined
}

function redirect({ full_name }: SkillRow): never {
  throw new SkillMoved(full_name)
}

/** As {@link findSkill}, but follows transfers: for names in request bodies, which no redirect can change. */
export function findMovedSkill(context: StorageContext, ref: string, caller: Caller): Promise<SkillRow | undefined> {
  return findSkillBy(toFindNamed(context), context, ref, caller, (skill) => skill)
}

/** As {@link findMovedSkill}, but returns undefined for a skill under a takedown. */
export async function findReadableSkill(context: StorageContext, name: string, caller: Caller) {
  try {
    return await findMovedSkill(context, name, caller)
  } catch (error) {
    if (isRegistryError(error, 'taken_down')) return undefined
    throw error
  }
}

/** As {@link findMovedSkill}, but throws `not_found` if the caller may not see the skill. */
export async function getMovedSkill(context: StorageContext, ref: string, caller: Caller): Promise<SkillRow> {
  return requireFound(await findMovedSkill(context, ref, caller), ref)
}
