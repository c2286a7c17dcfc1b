import { type Expression, expressionBuilder, sql, type SqlBool } from 'kysely'
import { type Caller, callerId } from '../kernel/caller.ts'
import type { SkillRow, Tables } from '../storage/tables.ts'
import { selectOrganisationsWith } from './rights.ts'
import {
  memberKinds,
  type membershipKinds,
  type NamedKind,
  type ReaderKind,
  readRule,
  selectSharedWith,
  type Sight,
  type UserId,
} from './read-rule.ts'

type Visibility = SkillRow['visibility']
const visibilities: readonly Visibility[] = ['public', 'internal', 'organisation', 'private']
const skillStates: readonly SkillRow['state'][] = ['live', 'hidden', 'taken_down', 'withdrawn']
const eb = expressionBuilder<Tables, 'skills'>()

/** The visibilities of live skills that every guest sees, and those that every user sees. */
const openVisibilitiesByViewer = { guest: openTo(['guest']), user: openTo(['guest', 'user']) }

function openTo(kinds: readonly ReaderKind[], state: SkillRow['state'] = 'live'): Visibility[] {
  return visibilities.filter((visibility) => readRule[state].readers[visibility].some((kind) => kinds.includes(kind)))
}

/** The visibilities of live skills that a caller of this kind sees, of any owner. */
export function openVisibilities({ kind }: Caller): readonly Visibility[] {
  return openVisibilitiesByViewer[kind]
}

/** The visibilities of packs that a caller of this kind sees, of any curator. */
export function openPackVisibilities(caller: Caller) {
  return openVisibilities(caller).filter((visibility) => visibility !== 'organisation')
}

/** Whether a caller sees a live row of `packs`. The curator, and its members who read private skills, see every one. */
export function isPackOpenTo(caller: Caller): Expression<SqlBool> {
  const pack = expressionBuilder<Tables, 'packs'>()
  const open = pack('packs.visibility', 'in', openPackVisibilities(caller))
  const id = callerId(caller)
  if (id === null) return open
  const own = pack('packs.curator_id', 'in', selectOrganisationsWith('readPrivate', id))
  return pack.or([open, pack('packs.curator_id', '=', id), own])
}

/**
 * Whether a row of `skills` is in the lists of any viewer. The value is a literal, because the databases use a partial
 * index only for statements with the same literal.
 */
export const isListedRow = eb('skills.listed', '=', sql.lit(1))

/** Whether a row of `skills` is in the lists of any viewer, and no stub. */
export const isListedSkill = eb.and([isListedRow, eb('skills.stub', '=', sql.lit(0))])

/** The id of a user, or the parameter of a prepared statement for the id; null for guests. */
export type Viewer = UserId | null

/**
 * Whether a user is a reader of this kind of a row of `skills`. The subqueries do not depend on the row, so that a
 * database runs them once or starts with them.
 */
const isReaderAs: Readonly<Record<NamedKind, (user: UserId) => Expression<SqlBool>>> = {
  owner: (user) => eb('skills.owner_id', '=', user),
  insider: (user) => isMemberAs('insider', user),
  member: (user) => isMemberAs('member', user),
  collaborator: (user) => eb('skills.id', 'in', selectSharedWith(user)),
}
const namedKinds = Object.keys(isReaderAs) as NamedKind[]

function isMemberAs(kind: (typeof membershipKinds)[number], user: UserId): Expression<SqlBool> {
  const organisations = eb.selectFrom(memberKinds).select('organisation_id').where('user_id', '=', user)
  return eb('skills.owner_id', 'in', organisations.where('kind', '=', sql.lit(kind)))
}

/** Mutually exclusive conditions on a row of `skills`: one is true if the skill is live and the viewer sees it. */
export function conditionsOf(viewer: Viewer): Expression<SqlBool>[] {
  if (viewer === null) return [isVisibilityIn(openVisibilitiesByViewer.guest)]
  const isClosedTo = (kind: NamedKind) =>
    isVisibilityIn(openTo([kind]).filter((visibility) => !openVisibilitiesByViewer.user.includes(visibility)))
  const isReader = (kind: NamedKind) => eb.and([isClosedTo(kind), isReaderAs[kind](viewer)])
  // The kinds exclude each other, except that a collaborator may also be a reader of another kind.
  const isOther = namedKinds.filter((kind) => kind !== 'collaborator').map(isReader)
  return [
    isVisibilityIn(openVisibilitiesByViewer.user),
    ...isOther,
    eb.and([isReader('collaborator'), eb.not(eb.or(isOther))]),
  ]
}

/** Whether a viewer sees a row of `skills` if the skill is live. */
export function isOpenToViewer(viewer: Viewer): Expression<SqlBool> {
  return eb.or(conditionsOf(viewer))
}

/** Whether lists that a caller requests include a row of `skills`. */
export function isListedFor(caller: Caller): Expression<SqlBool> {
  return eb.and([isListedSkill, isOpenToViewer(callerId(caller))])
}

/** Whether everyone has the given sight of a row of `skills`. */
export function isPublicWith(sight: Sight): Expression<SqlBool> {
  const among = skillStates.filter((state) => readRule[state].sight === sight && openTo(['guest'], state).length > 0)
  return eb.or(
    among.map((state) => eb.and([eb('skills.state', '=', sql.lit(state)), isVisibilityIn(openTo(['guest'], state))])),
  )
}

/** Whether everyone sees a row of `skills`; stubs are included. */
export const publicCondition = isPublicWith('seen')

/** Whether a row of `skills` is no stub and everyone sees the skill. */
export const publishedCondition = eb.and([publicCondition, eb('skills.stub', '=', sql.lit(0))])

/** Whether a row of `skills` is in everyone's lists. */
export const listedCondition = eb.and([publishedCondition, eb('skills.latest_version', '!=', sql.lit(''))])

function isVisibilityIn(among: readonly Visibility[]): Expression<SqlBool> {
  const [first, ...others] = among.map((visibility) => sql.lit(visibility))
  if (!first) return sql.lit(false)
  return others.length === 0 ? eb('skills.visibility', '=', first) : eb('skills.visibility', 'in', [first, ...others])
}
