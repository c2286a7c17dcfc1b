import { RegistryError } from '@skillstead/protocol'
import { type Kysely, type RawBuilder, sql, type SqlBool } from 'kysely'
import type { StorageContext } from '../storage/storage-context.ts'
import { type Caller, callerId, type UserCaller } from '../kernel/caller.ts'
import type { SkillRow, Tables } from '../storage/tables.ts'

/** The columns that visibility rules use. */
export type Visible = Pick<SkillRow, 'id' | 'owner_id' | 'visibility' | 'state' | 'full_name'>

/** A user as a reader of skills. */
type Reader = Pick<UserCaller, 'userId' | 'username' | 'role'>

/** Thrown if only a takedown prevents the caller from seeing the skill. */
export class TakenDown extends RegistryError {
  readonly skillId: string

  /** `caseIds`: the cases that the reader may answer. */
  constructor(skill: Pick<SkillRow, 'id' | 'full_name'>, caseIds: readonly string[]) {
    const advice = caseIds.map((id) => ` A counter-notice may be sent to /api/v1/dmca/${id}/counter-notice.`)
    super('taken_down', `${skill.full_name} is under a takedown.${advice.join('')}`)
    this.skillId = skill.id
  }
}

/** A caller's view of a skill: the skill, the fact that it is under a takedown (which is not secret), or nothing. */
type Sight = 'seen' | 'taken_down' | 'unseen'

/** Whether the caller may see a skill. Throws {@link TakenDown} if only a takedown prevents it. */
export async function canSee(context: StorageContext, skill: Visible, caller: Caller): Promise<boolean> {
  const sight = toSight(skill, caller, await isReader(context, skill, caller))
  if (sight === 'taken_down') throw new TakenDown(skill, await readCases(context, skill, caller))
  return sight === 'seen'
}

/** The caller's view of many skills, by id, with at most one query. */
export async function readSights(context: StorageContext, skills: readonly Visible[], caller: Caller) {
  const closed = skills.filter((skill) => !isOpenTo(skill, caller)).map(({ id }) => id)
  const shared = await findShared(context.database.read, closed, caller)
  return new Map(
    skills.map((skill) => [skill.id, toSight(skill, caller, isOpenTo(skill, caller) || shared.has(skill.id))]),
  )
}

/** As {@link canSee} for many skills with one query; skills under a takedown are left out. */
export async function keepSeen<T extends Visible>(context: StorageContext, skills: readonly T[], caller: Caller) {
  const sights = await readSights(context, skills, caller)
  return skills.filter(({ id }) => sights.get(id) === 'seen')
}

/** The users who may see a skill, judged by the current rows of both in a transaction. */
export async function keepReaders<T extends Reader>(trx: Kysely<Tables>, skill: Visible, users: readonly T[]) {
  const readers = skill.visibility === 'private' ? await findReaders(trx, skill.id) : new Set<string>()
  return users.filter((user) => {
    const caller: Caller = { ...user, kind: 'user', plan: 'free', scopes: [] }
    return toSight(skill, caller, isOpenTo(skill, caller) || readers.has(user.userId)) === 'seen'
  })
}

/**
 * Which users may read skills, deleted and taken-down ones included. The owner and collaborators may read a private
 * skill, administrators a hidden one. No user may read a skill that does not exist.
 */
export async function findReadable(
  db: Kysely<Tables>,
  pairs: readonly { readonly skillId: string; readonly userId: string }[],
): Promise<(skillId: string, userId: string) => boolean> {
  const ids = [...new Set(pairs.map(({ skillId }) => skillId))]
  if (ids.length === 0) return () => false
  const rows = await db
    .selectFrom('skills')
    .select(['id', 'owner_id', 'visibility', 'state'])
    .where('id', 'in', ids)
    .execute()
  const skills = new Map(rows.map((row) => [row.id, row]))
  const closed = rows.filter(({ visibility }) => visibility === 'private').map(({ id }) => id)
  const roles =
    closed.length === 0
      ? []
      : await db.selectFrom('collaborators').select(['skill_id', 'user_id']).where('skill_id', 'in', closed).execute()
  const userIds = [...new Set(pairs.map(({ userId }) => userId))]
  const isAnyHidden = rows.some(({ state }) => state === 'hidden')
  const administrators = isAnyHidden
    ? await db.selectFrom('users').select('id').where('id', 'in', userIds).where('role', '=', 'admin').execute()
    : []
  const readers = new Set(roles.map(({ skill_id, user_id }) => `${skill_id} ${user_id}`))
  return (skillId, userId) => {
    const skill = skills.get(skillId)
    if (!skill) return false
    if (skill.state === 'hidden' && administrators.some(({ id }) => id === userId)) return true
    return skill.visibility !== 'private' || skill.owner_id === userId || readers.has(`${skillId} ${userId}`)
  }
}

/**
 * Who may see a skill, as text that can be stored and judged by {@link isReaderOf} after the skill has changed: words
 * for groups and ids of users, separated by commas; '' for no one, as for a stub.
 */
export async function readReaders(db: Kysely<Tables>, skill: Visible & Pick<SkillRow, 'stub'>): Promise<string> {
  const { id, owner_id, visibility, state, stub } = skill
  if (stub === 1 || !isShownToOwner(skill)) return ''
  if (state === 'hidden') return `administrators,${owner_id}`
  if (visibility === 'public') return 'everyone'
  if (visibility === 'internal') return 'users'
  return [owner_id, ...(await findReaders(db, id))].join(',')
}

/** Whether a caller is among the readers that {@link readReaders} returned. */
export function isReaderOf(readers: string, caller: Caller): boolean {
  const own = caller.kind === 'user' ? ['users', caller.userId] : []
  const groups = new Set(['everyone', ...own, ...(isAdministrator(caller) ? ['administrators'] : [])])
  return readers.split(',').some((reader) => groups.has(reader))
}

async function findReaders(db: Kysely<Tables>, skillId: string): Promise<Set<string>> {
  const roles = await db.selectFrom('collaborators').select('user_id').where('skill_id', '=', skillId).execute()
  return new Set(roles.map(({ user_id }) => user_id))
}

/** Whether the owner may see the skill: false if it is deleted or taken down. */
export function isShownToOwner({ state }: Pick<SkillRow, 'state'>): boolean {
  return state === 'live' || state === 'hidden'
}

/** Decides who may see a skill. No other function contains this rule, except {@link readReaders} for later readers. */
function toSight(skill: Visible, caller: Caller, reads: boolean): Sight {
  switch (skill.state) {
    case 'withdrawn':
      return 'unseen'
    case 'taken_down':
      return reads ? 'taken_down' : 'unseen'
    case 'hidden':
      return isOwner(skill, caller) || isAdministrator(caller) ? 'seen' : 'unseen'
    case 'live':
      return reads ? 'seen' : 'unseen'
  }
}

/**
 * Whether the caller may publish to the skill: its owner, or a collaborator with write access. Writes check it again in
 * their transaction, since a role may be revoked concurrently.
 */
export async function canWrite(db: Kysely<Tables>, skill: Visible, caller: Caller): Promise<boolean> {
  return isOwner(skill, caller) || (await findRole(db, skill, caller)) === 'write'
}

/** Refuses everyone but the owner: `not_found` if the caller cannot see the skill, else `forbidden`. */
export function requireOwner(skill: Visible, caller: Caller): void {
  if (!isOwner(skill, caller)) throw new RegistryError('forbidden', `Only the owner of ${skill.full_name} may do this.`)
}

/** Whether the caller may moderate other users' skills. */
export function isAdministrator(caller: Caller): boolean {
  return caller.kind === 'user' && caller.role === 'admin'
}

export function isOwner(skill: Pick<SkillRow, 'owner_id'>, caller: Caller): boolean {
  return callerId(caller) === skill.owner_id
}

/** The takedown cases that the owner can answer; none for other callers. */
async function readCases(context: StorageContext, skill: Visible, caller: Caller): Promise<string[]> {
  if (!isOwner(skill, caller)) return []
  const rows = await context.database.read
    .selectFrom('dmca_cases')
    .select('id')
    .where('skill_id', '=', skill.id)
    .where('status', '=', 'removed')
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}

async function isReader(context: StorageContext, skill: Visible, caller: Caller): Promise<boolean> {
  return isOpenTo(skill, caller) || (await findRole(context.database.read, skill, caller)) !== undefined
}

/** Whether the caller may read the skill without having a role in it. */
function isOpenTo(skill: Visible, caller: Caller): boolean {
  if (skill.visibility === 'public' || isOwner(skill, caller) || caller.sharedSkillId === skill.id) return true
  return skill.visibility === 'internal' && caller.kind === 'user'
}

async function findShared(db: Kysely<Tables>, skillIds: readonly string[], caller: Caller): Promise<Set<string>> {
  if (caller.kind === 'guest' || skillIds.length === 0) return new Set()
  const rows = await db
    .selectFrom('collaborators')
    .select('skill_id')
    .where('user_id', '=', caller.userId)
    .where('skill_id', 'in', skillIds)
    .execute()
  return new Set(rows.map((row) => row.skill_id))
}

async function findRole(db: Kysely<Tables>, skill: Visible, caller: Caller): Promise<'read' | 'write' | undefined> {
  if (caller.kind === 'guest') return undefined
  const row = await db
    .selectFrom('collaborators')
    .select('role')
    .where('skill_id', '=', skill.id)
    .where('user_id', '=', caller.userId)
    .executeTakeFirst()
  return row?.role
}

/** Whether a row of `skills` is in the lists of a caller: see `toSight` for the rule about one skill. */
export function isListedFor(caller: Caller): RawBuilder<SqlBool> {
  return sql`(skills.state = 'live' and skills.latest_version <> '' and skills.stub = 0 and ${isOpenToViewer(callerId(caller))})`
}

/** Whether a row of `skills` is visible to a viewer, apart from its state. */
export function isOpenToViewer(viewer: string | null): RawBuilder<SqlBool> {
  if (viewer === null) return sql`skills.visibility = 'public'`
  return sql`(skills.visibility in ('public', 'internal') or skills.owner_id = ${viewer} or exists (
    select 1 from collaborators where collaborators.skill_id = skills.id and collaborators.user_id = ${viewer}))`
}
