import { toShortName } from '@skillstead/protocol'
import { type Param, compileQuery, type SkillRow, type WriteTransaction } from '@skillstead/core/internal'
import type { MirrorOutcome, RefusalReason } from './mirrored-types.ts'
import { withUpstreams, selectLink } from '../tables/mirror-tables.ts'

/** The identity of a skill at an upstream. Only upstreams with a log state the id. */
export interface Wanted {
  readonly upstream: string
  readonly skillId: string | undefined
  readonly owner: string
  readonly fullName: string
}

/**
 * Where an upstream's skill is stored: as the `skill` that was imported from this upstream before, under its free name
 * if no field is set, or nowhere because of a `refusal`.
 */
export interface Place {
  readonly skill?: SkillRow
  readonly refusal?: Refusal
  /** Set with some refusals: the skill of another source, or of a user of this node, that has the name or the id. */
  readonly stranger?: SkillRow
}

export type Refusal = Extract<MirrorOutcome, { result: 'refused' }>

/** Creates a refusal. `detail` is a sentence for the operator. */
export function refusePlace(reason: RefusalReason, detail: string): Refusal {
  return { result: 'refused', reason, detail }
}

/**
 * Decides where an upstream's skill may be stored. Each full name has one source: a skill of this node or of another
 * upstream is never overwritten or extended, and a name that was deleted on this node stays deleted.
 */
export async function findPlace(trx: WriteTransaction, wanted: Wanted): Promise<Place> {
  const { upstream, skillId, fullName } = wanted
  const [named] = await selectByName(trx, { fullName })
  const skill = skillId === undefined || named?.id === skillId ? named : await findSkillRow(trx, skillId)
  if (skill) {
    if (!isFrom(skill, upstream)) return { stranger: skill, refusal: refuseStranger(skill, fullName) }
    if (isDeletedHere(skill)) {
      return {
        refusal: refusePlace('name_taken', `${skill.full_name} was deleted on this node and is not imported again.`),
      }
    }
    if (skill.full_name === fullName) return refuseIfClaimed(trx, wanted, skill)
    const refusal = refuseShortName(skill, fullName) ?? (await refuseNewName(trx, wanted, named, skill.id))
    return refusal ? { refusal } : { skill }
  }
  if (named && !isFrom(named, upstream)) return { stranger: named, refusal: refuseStranger(named, fullName) }
  if (named && !isDeletedHere(named) && (await isFromReplacedLog(trx, named, upstream)))
    return refuseIfClaimed(trx, wanted, named)
  const refusal = await refuseNewName(trx, wanted, named)
  return refusal ? { refusal } : {}
}

/** The stored skill that an entry changes; undefined if it was not imported from this upstream. */
export async function findOwn(
  trx: WriteTransaction,
  { upstream, skillId, fullName }: Pick<Wanted, 'upstream' | 'fullName'> & { readonly skillId: string },
): Promise<SkillRow | undefined> {
  const skill = await findSkillRow(trx, skillId)
  if (skill) return isFrom(skill, upstream) ? skill : undefined
  const [named] = await selectByName(trx, { fullName })
  return named && isFrom(named, upstream) && (await isFromReplacedLog(trx, named, upstream)) ? named : undefined
}

/**
 * Whether a skill was imported from an earlier log of its upstream. After the operator accepted that the upstream was
 * restored or rebuilt, the new log gives the skill another id. It is still the same skill, because a name belongs to
 * one source.
 */
async function isFromReplacedLog(
  trx: WriteTransaction,
  { id, full_name }: Pick<SkillRow, 'id' | 'full_name'>,
  upstream: string,
): Promise<boolean> {
  const logged = await withUpstreams(trx)
    .selectFrom('upstream_log')
    .select('seq')
    .where('upstream', '=', upstream)
    .where('type', 'in', ['version', 'skill'])
    .where((eb) =>
      eb.or([
        eb('subject', '=', full_name),
        // Matches subjects that begin with `full_name@`, because `A` is the next character after `@`.
        eb.and([eb('subject', '>=', `${full_name}@`), eb('subject', '<', `${full_name}A`)]),
      ]),
    )
    .where('entry', 'like', `%"${id}"%`)
    .limit(1)
    .executeTakeFirst()
  return logged === undefined
}

/** Whether the skill was deleted on this node, not at its source. No later entry of the source restores it. */
export function isDeletedHere({ state, source_state }: Pick<SkillRow, 'state' | 'source_state'>): boolean {
  return state === 'withdrawn' && source_state !== 'withdrawn'
}

/** Whether a skill's first version was published or imported on this node. */
export function isWrittenHere({ origin_kind: kind }: Pick<SkillRow, 'origin_kind'>): boolean {
  return kind === 'local' || kind === 'import'
}

/**
 * Whether a skill of this node has exactly this version of an upstream: the version was published here and sent to the
 * upstream, or imported from the upstream before a user claimed the namespace. If `version` is undefined, any version
 * with the digest matches.
 */
export async function isVersionHere(
  trx: WriteTransaction,
  skill: SkillRow,
  { upstream, version, digest }: { upstream: string; version: string | undefined; digest: string | null },
): Promise<boolean> {
  if (!isWrittenHere(skill) && skill.origin_upstream !== upstream) return false
  const rows = await trx
    .selectFrom('versions')
    .select('version')
    .where('skill_id', '=', skill.id)
    .where('digest', '=', digest)
    .execute()
  return version === undefined ? rows.length > 0 : rows.some((row) => row.version === version)
}

function isFrom(skill: SkillRow, upstream: string): boolean {
  return skill.origin_kind === 'mirror' && skill.origin_upstream === upstream
}

function refuseStranger(skill: SkillRow, fullName: string): Refusal {
  if (skill.origin_kind === 'mirror') {
    return refusePlace('other_source', `${fullName} comes from ${skill.origin_upstream}. A skill has one source.`)
  }
  const what = skill.stub ? 'is known on this node as a stub' : 'is a skill of this node'
  return refusePlace('owned_locally', `${skill.full_name} ${what} and is not overwritten.`)
}

function refuseShortName(skill: SkillRow, fullName: string): Refusal | undefined {
  if (skill.name === toShortName(fullName)) return undefined
  return refusePlace('malformed', `${skill.full_name} cannot become ${fullName}: a skill keeps its short name.`)
}

/** Explains why a skill cannot be stored under a name that it does not have yet; undefined if it can. */
async function refuseNewName(
  trx: WriteTransaction,
  { upstream, owner, fullName }: Wanted,
  named: SkillRow | undefined,
  skillId?: string,
): Promise<Refusal | undefined> {
  if (named) {
    return isFrom(named, upstream)
      ? refusePlace('name_taken', `${fullName} is another skill on this node, which came from ${upstream} before.`)
      : refuseStranger(named, fullName)
  }
  const [alias] = await selectAlias(trx, { fullName })
  if (alias && alias.skill_id !== skillId) {
    return refusePlace('name_taken', `${fullName} redirects to the skill that was transferred from it.`)
  }
  return refuseClaimedName(trx, owner, upstream)
}

/** The stored skill, or a refusal if a user of this node claimed its namespace after the import and owns it now. */
async function refuseIfClaimed(trx: WriteTransaction, wanted: Wanted, skill: SkillRow): Promise<Place> {
  const refusal = await refuseClaimedName(trx, wanted.owner, wanted.upstream)
  return refusal ? { stranger: skill, refusal } : { skill }
}

/** Refuses to publish under the name of a user of this node, unless that user linked the account at `upstream`. */
export async function refuseClaimedName(
  trx: WriteTransaction,
  username: string,
  upstream?: string,
): Promise<Refusal | undefined> {
  const [user] = await selectUser(trx, { username })
  if (!user?.claimed || (upstream !== undefined && (await isLinkedAccount(trx, user.id, upstream, username))))
    return undefined
  return refusePlace('owned_locally', `${username} is a user of this node, so no one else may publish under that name.`)
}

/** Whether the user of this node linked the account with this username at the upstream, by the account's API key. */
async function isLinkedAccount(
  trx: WriteTransaction,
  userId: string,
  upstream: string,
  username: string,
): Promise<boolean> {
  const link = selectLink(trx, upstream, userId).select('user_id').where('username', '=', username)
  return (await link.executeTakeFirst()) !== undefined
}

export async function findSkillRow(trx: WriteTransaction, id: string): Promise<SkillRow | undefined> {
  const [skill] = await selectById(trx, { id })
  return skill
}

const selectById = compileQuery((db, param: Param<{ id: string }>) =>
  db.selectFrom('skills').selectAll().where('id', '=', param('id')),
)
const selectByName = compileQuery((db, param: Param<{ fullName: string }>) =>
  db.selectFrom('skills').selectAll().where('full_name', '=', param('fullName')),
)
const selectAlias = compileQuery((db, param: Param<{ fullName: string }>) =>
  db.selectFrom('aliases').select('skill_id').where('full_name', '=', param('fullName')),
)
const selectUser = compileQuery((db, param: Param<{ username: string }>) =>
  db.selectFrom('users').select(['id', 'claimed']).where('username', '=', param('username')),
)
