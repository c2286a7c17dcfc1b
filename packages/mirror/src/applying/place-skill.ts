import { keepCompiled, type SkillRow, type WriteTransaction } from '@skillstead/core/internal'
import type { MirrorOutcome, RefusalReason } from './mirrored-types.ts'
import { withUpstreams } from '../tables/mirror-tables.ts'

/** What names a skill of an upstream; only one with a log tells the id. */
export interface Wanted {
  readonly upstream: string
  readonly skillId: string | undefined
  readonly owner: string
  readonly fullName: string
}

/** Where something of an upstream goes: to the skill that came from there before, to a name that is free, or nowhere. */
export type Place =
  | { readonly skill: SkillRow; readonly stranger?: undefined; readonly refusal?: undefined }
  | { readonly skill?: undefined; readonly stranger?: undefined; readonly refusal?: undefined }
  /** The name or the id is that of a skill which came from elsewhere, or whose owner is a user of this node. */
  | { readonly stranger: SkillRow; readonly refusal: Refusal; readonly skill?: undefined }
  | { readonly refusal: Refusal; readonly skill?: undefined; readonly stranger?: undefined }

export type Refusal = Extract<MirrorOutcome, { result: 'refused' }>

/** A refusal with its sentence. */
export function refuse(reason: RefusalReason, detail: string): Refusal {
  return { result: 'refused', reason, detail }
}

/**
 * The one rule about where what an upstream says may go. Each full name has one source: what is from here, or from
 * another upstream, is never written over and never added to; and a name that was deleted here stays so.
 */
export async function findPlace(trx: WriteTransaction, wanted: Wanted): Promise<Place> {
  const { upstream, skillId, fullName } = wanted
  const [named] = await selectByName(trx, { fullName })
  const skill = skillId === undefined || named?.id === skillId ? named : await findById(trx, skillId)
  if (skill) {
    if (!isFrom(skill, upstream)) return { stranger: skill, refusal: refuseStranger(skill, fullName) }
    if (isDeletedHere(skill)) {
      return { refusal: refuse('name_taken', `${skill.full_name} was deleted on this node, and stays so.`) }
    }
    if (skill.full_name === fullName) return withoutClaimed(trx, wanted, skill)
    const refusal = skill.name === nameOf(fullName) ? undefined : refuseShortName(skill, fullName)
    return withRefusal({ skill }, refusal ?? (await refuseNew(trx, wanted, named, skill.id)))
  }
  if (named && !isFrom(named, upstream)) return { stranger: named, refusal: refuseStranger(named, fullName) }
  if (named && !isDeletedHere(named) && (await isOfAnotherLog(trx, named, upstream)))
    return withoutClaimed(trx, wanted, named)
  return withRefusal({}, await refuseNew(trx, wanted, named))
}

/** The skill that an upstream speaks of, where it came from there; for what says something of a skill that is here. */
export async function findOwn(
  trx: WriteTransaction,
  { upstream, skillId, fullName }: Pick<Wanted, 'upstream' | 'fullName'> & { readonly skillId: string },
): Promise<SkillRow | undefined> {
  const skill = await findById(trx, skillId)
  if (skill) return isFrom(skill, upstream) ? skill : undefined
  const [named] = await selectByName(trx, { fullName })
  return named && isFrom(named, upstream) && (await isOfAnotherLog(trx, named, upstream)) ? named : undefined
}

/**
 * Whether a skill came by a log that its upstream has no more: it was restored or built anew, the operator accepted that,
 * and what has the name there now goes by another id. The skill here goes on as that one, for a name has one source.
 */
async function isOfAnotherLog(
  trx: WriteTransaction,
  { id, full_name }: Pick<SkillRow, 'id' | 'full_name'>,
  upstream: string,
): Promise<boolean> {
  const told = await withUpstreams(trx)
    .selectFrom('upstream_log')
    .select('seq')
    .where('upstream', '=', upstream)
    .where('type', 'in', ['version', 'skill'])
    .where((eb) =>
      eb.or([
        eb('subject', '=', full_name),
        // The character after `@`.
        eb.and([eb('subject', '>=', `${full_name}@`), eb('subject', '<', `${full_name}A`)]),
      ]),
    )
    .where('entry', 'like', `%"${id}"%`)
    .limit(1)
    .executeTakeFirst()
  return told === undefined
}

/** Whether it was deleted on this node rather than where it comes from: then nothing that is said there brings it back. */
export function isDeletedHere({ state, source_state }: Pick<SkillRow, 'state' | 'source_state'>): boolean {
  return state === 'withdrawn' && source_state !== 'withdrawn'
}

function withRefusal(place: Place, refusal: Refusal | undefined): Place {
  return refusal ? { refusal } : place
}

function isFrom(skill: SkillRow, upstream: string): boolean {
  return skill.origin_kind === 'mirror' && skill.origin_upstream === upstream
}

function refuseStranger(skill: SkillRow, fullName: string): Refusal {
  if (skill.origin_kind === 'mirror') {
    return refuse('other_source', `${fullName} comes from ${skill.origin_upstream}, and a skill has one source.`)
  }
  const what = skill.stub ? 'is known here as a stub' : 'is a skill of this node'
  return refuse('owned_locally', `${skill.full_name} ${what}, and is not written over.`)
}

function refuseShortName(skill: SkillRow, fullName: string): Refusal {
  return refuse('malformed', `${skill.full_name} cannot become ${fullName}: a skill keeps its short name.`)
}

/** Why a skill cannot take a name that no other of its source has; undefined where it can. */
async function refuseNew(
  trx: WriteTransaction,
  { upstream, owner, fullName }: Wanted,
  named: SkillRow | undefined,
  skillId?: string,
): Promise<Refusal | undefined> {
  if (named) {
    return isFrom(named, upstream)
      ? refuse('name_taken', `${fullName} is another skill here, which came from ${upstream} before.`)
      : refuseStranger(named, fullName)
  }
  const [alias] = await selectAlias(trx, { fullName })
  if (alias && alias.skill_id !== skillId) {
    return refuse('name_taken', `${fullName} leads to the skill that was transferred from it.`)
  }
  return refuseClaimed(trx, { upstream, owner })
}

/** A skill that came in before its namespace was claimed is its new owner's: the upstream adds nothing to it. */
async function withoutClaimed(trx: WriteTransaction, wanted: Wanted, skill: SkillRow): Promise<Place> {
  const refusal = await refuseClaimed(trx, wanted)
  return refusal ? { stranger: skill, refusal } : { skill }
}

async function refuseClaimed(
  trx: WriteTransaction,
  { upstream, owner }: Pick<Wanted, 'upstream' | 'owner'>,
): Promise<Refusal | undefined> {
  const [user] = await selectUser(trx, { username: owner })
  if (!user?.claimed || (await isLinked(trx, user.id, upstream, owner))) return undefined
  return refuse('owned_locally', `${owner} is a user of this node, so no one else publishes under that name.`)
}

/** The user said, with a key, to be the one of this name there. */
async function isLinked(trx: WriteTransaction, userId: string, upstream: string, username: string): Promise<boolean> {
  const link = await withUpstreams(trx)
    .selectFrom('upstream_links')
    .select('user_id')
    .where('user_id', '=', userId)
    .where('upstream', '=', upstream)
    .where('username', '=', username)
    .executeTakeFirst()
  return link !== undefined
}

async function findById(trx: WriteTransaction, skillId: string): Promise<SkillRow | undefined> {
  const [skill] = await selectById(trx, { id: skillId })
  return skill
}

function nameOf(fullName: string): string {
  return fullName.slice(fullName.indexOf('/') + 1)
}

const selectById = keepCompiled((db, { id }: { id: string }) =>
  db.selectFrom('skills').selectAll().where('id', '=', id),
)
const selectByName = keepCompiled((db, { fullName }: { fullName: string }) =>
  db.selectFrom('skills').selectAll().where('full_name', '=', fullName),
)
const selectAlias = keepCompiled((db, { fullName }: { fullName: string }) =>
  db.selectFrom('aliases').select('skill_id').where('full_name', '=', fullName),
)
const selectUser = keepCompiled((db, { username }: { username: string }) =>
  db.selectFrom('users').select(['id', 'claimed']).where('username', '=', username),
)
