import { RegistryError } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import { type Caller, callerId, type UserCaller } from '../kernel/caller.ts'
import type { StorageContext } from '../storage/storage-context.ts'
import type { SkillRow, Tables } from '../storage/tables.ts'
import { findReaderKeys, readKeysOf } from './audience.ts'
import { isRuledByTables, kindsByCaller, kindsByRow, readRule, type Ruled, relations, type Sight } from './read-rule.ts'
import { hasRight } from './rights.ts'

/** The columns that decide who may see a skill. */
export type Visible = Ruled & Pick<SkillRow, 'full_name'>

/** Thrown if only a takedown prevents the caller from seeing the skill. */
export class TakenDown extends RegistryError {
  readonly skillId: string

  /** `caseIds`: the takedown cases that the caller may answer with a counter-notice. */
  constructor(skill: Pick<SkillRow, 'id' | 'full_name'>, caseIds: readonly string[]) {
    const advice = caseIds.map((id) => ` A counter-notice may be sent to /api/v1/dmca/${id}/counter-notice.`)
    super('taken_down', `${skill.full_name} is under a takedown.${advice.join('')}`)
    this.skillId = skill.id
  }
}

/** Whether the caller may see a skill. Throws {@link TakenDown} if only a takedown prevents that. */
export async function canSee(context: StorageContext, skill: Visible, caller: Caller): Promise<boolean> {
  const sight = (await readSights(context, [skill], caller)).get(skill.id)
  if (sight === 'taken_down') throw new TakenDown(skill, await readAnswerableCases(context, skill, caller))
  return sight === 'seen'
}

/** The caller's view of many skills, by id. */
export async function readSights({ database }: StorageContext, skills: readonly Visible[], caller: Caller) {
  const closed = skills
    .filter((skill) => isRuledByTables(skill) && toSight(skill, caller) === 'unseen')
    .map(({ id }) => id)
  const related = caller.kind === 'user' ? await readRelations(database.read, closed, [caller.userId]) : undefined
  return new Map(skills.map((skill) => [skill.id, toSight(skill, caller, related)]))
}

/** Keeps the skills that the caller may see. Omits skills under a takedown; never throws {@link TakenDown}. */
export async function keepSeen<T extends Visible>(context: StorageContext, skills: readonly T[], caller: Caller) {
  const sights = await readSights(context, skills, caller)
  return skills.filter(({ id }) => sights.get(id) === 'seen')
}

/** Returns those of the users who may see a skill. Reads the collaborators and members in the transaction `trx`. */
export async function keepReaders<T extends Pick<UserCaller, 'userId' | 'username' | 'role'>>(
  trx: Kysely<Tables>,
  skill: Visible,
  users: readonly T[],
): Promise<T[]> {
  const ids = users.map(({ userId }) => userId)
  const related = await readRelations(trx, isRuledByTables(skill) ? [skill.id] : [], ids)
  return users.filter((user) => toSight(skill, toUserCaller(user), related) === 'seen')
}

/**
 * Returns a function that decides whether a user may read a skill: true if the rule for the current state of the skill
 * or the rule for a live skill allows it, so that deletion, takedown and hiding do not count. No user may read a skill
 * that does not exist.
 */
export async function findReadable(
  db: Kysely<Tables>,
  pairs: readonly { readonly skillId: string; readonly userId: string }[],
): Promise<(skillId: string, userId: string) => boolean> {
  const ids = [...new Set(pairs.map(({ skillId }) => skillId))]
  if (ids.length === 0) return () => false
  const columns = ['id', 'owner_id', 'visibility', 'state'] as const
  const rows = await db.selectFrom('skills').select(columns).where('id', 'in', ids).execute()
  const userIds = [...new Set(pairs.map(({ userId }) => userId))]
  const isAnyHidden = rows.some(({ state }) => state === 'hidden')
  const administrators = isAnyHidden
    ? await db.selectFrom('users').select('id').where('id', 'in', userIds).where('role', '=', 'admin').execute()
    : []
  const skills = new Map(rows.map((row) => [row.id, [row, { ...row, state: 'live' as const }]]))
  const closed = rows.filter((row) => isRuledByTables({ ...row, state: 'live' })).map(({ id }) => id)
  const related = await readRelations(db, closed, userIds)
  return (skillId, userId) => {
    const role = administrators.some(({ id }) => id === userId) ? 'admin' : 'user'
    const caller = toUserCaller({ userId, username: '', role })
    return (skills.get(skillId) ?? []).some((skill) => toSight(skill, caller, related) === 'seen')
  }
}

/** The words of {@link readReaders} for kinds of reader. */
const readerWords = { guest: 'everyone', user: 'users', administrator: 'administrators' } as const
const groupKinds = ['guest', 'user', 'administrator'] as const

/**
 * The readers of a skill as text: words for groups and keys of {@link findReaderKeys}, separated by commas; '' for no
 * one, as for a stub. {@link judgeReaders} judges by the stored text after the skill has changed.
 */
export async function readReaders(db: Kysely<Tables>, skill: Ruled & Pick<SkillRow, 'stub'>): Promise<string> {
  if (skill.stub === 1 || !isShownToOwner(skill)) return ''
  const kinds = readRule[skill.state].readers[skill.visibility]
  const words = groupKinds.filter((kind) => kinds.includes(kind)).map((kind) => readerWords[kind])
  if (kinds.includes('guest') || kinds.includes('user')) return words[0]!
  return [...words, ...(await findReaderKeys(db, [skill])).get(skill.id)!].join(',')
}

/** Returns a function that decides whether the caller is among the readers that {@link readReaders} returned. */
export async function judgeReaders(db: Kysely<Tables>, caller: Caller): Promise<(readers: string) => boolean> {
  const words = groupKinds.filter((kind) => kindsByCaller[kind](caller)).map((kind) => readerWords[kind])
  const names = new Set<string>([...words, ...((await readKeysOf(db, callerId(caller))) ?? [])])
  return (readers) => readers.split(',').some((reader) => names.has(reader))
}

/** Whether the owner may see the skill: false if the skill is deleted or taken down. */
export function isShownToOwner({ state }: Pick<SkillRow, 'state'>): boolean {
  return readRule[state].sight === 'seen'
}

/** Whether everyone sees a skill or a pack; stubs are included. */
export function isShownToAll({ state, visibility }: Pick<Ruled, 'state' | 'visibility'>): boolean {
  const { sight, readers } = readRule[state]
  return sight === 'seen' && readers[visibility].includes('guest')
}

/** Whether a skill is no stub and everyone sees the skill. The public log contains such skills. */
export function isPublished(skill: Pick<SkillRow, 'state' | 'visibility' | 'stub'>): boolean {
  return isShownToAll(skill) && skill.stub === 0
}

/** Whether a skill is in everyone's lists: everyone sees the skill and can load a version. */
export function isListedToAll(skill: Pick<SkillRow, 'state' | 'visibility' | 'stub' | 'latest_version'>): boolean {
  return isPublished(skill) && skill.latest_version !== ''
}

/** The kinds of reader by skill and user, as `<kind> <skill's id> <user's id>`. */
type Related = ReadonlySet<string>

/** The kinds of reader of the given skills that other tables store, for the given users. */
async function readRelations(db: Kysely<Tables>, skillIds: readonly string[], userIds: readonly string[]) {
  if (skillIds.length === 0 || userIds.length === 0) return new Set<string>()
  const rows = await db
    .selectFrom(relations)
    .selectAll()
    .where('skill_id', 'in', skillIds)
    .where('user_id', 'in', userIds)
    .execute()
  return new Set(rows.map(({ kind, skill_id, user_id }) => `${kind} ${skill_id} ${user_id}`))
}

/** The caller's sight of a skill by {@link readRule}. `related`: the result of `readRelations`. */
function toSight(skill: Ruled, caller: Caller, related?: Related): Sight {
  const { sight, readers } = readRule[skill.state]
  const isReader = readers[skill.visibility].some((kind) => {
    if (isKeyOf(kindsByCaller, kind)) return kindsByCaller[kind](caller)
    if (isKeyOf(kindsByRow, kind)) return kindsByRow[kind](caller, skill)
    return caller.kind === 'user' && related?.has(`${kind} ${skill.id} ${caller.userId}`) === true
  })
  return isReader ? sight : 'unseen'
}

function isKeyOf<T extends object>(object: T, key: PropertyKey): key is keyof T {
  return key in object
}

/** A signed-in user as a caller. */
function toUserCaller(user: Pick<UserCaller, 'userId' | 'username' | 'role'>): Caller {
  return { ...user, kind: 'user', plan: 'free', scopes: [] }
}

/** The takedown cases that the owner can answer; none for other callers. */
async function readAnswerableCases(context: StorageContext, skill: Visible, caller: Caller): Promise<string[]> {
  if (!(await hasRight(context.database.read, skill, caller, 'manage'))) return []
  const rows = await context.database.read
    .selectFrom('dmca_cases')
    .select('id')
    .where('skill_id', '=', skill.id)
    .where('status', '=', 'removed')
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}
