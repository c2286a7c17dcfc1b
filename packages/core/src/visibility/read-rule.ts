import { rolesWith, isOneOf } from '@skillstead/protocol'
import { type Expression, expressionBuilder, sql } from 'kysely'
import { type Caller, callerId } from '../kernel/caller.ts'
import type { SkillRow, Tables } from '../storage/tables.ts'

/** What a caller sees of a skill: all of it, the fact that it is under a takedown (which is not secret), or nothing. */
export type Sight = 'seen' | 'taken_down' | 'unseen'

/** The columns that the rule depends on. */
export type Ruled = Pick<SkillRow, 'id' | 'owner_id' | 'visibility' | 'state'>

type Visibility = SkillRow['visibility']
type Readers = Readonly<Record<Visibility, readonly ReaderKind[]>>
export type ReaderKind = keyof typeof kindsByCaller | keyof typeof kindsByRow | (typeof storedKinds)[number]
/** The kinds that make some users readers of a skill. A `holder` is any caller with a link, and sees no lists by it. */
export type NamedKind = Exclude<ReaderKind, keyof typeof kindsByCaller | 'holder'>

/** The kinds of reader that depend on the caller alone. Every caller is a guest. */
export const kindsByCaller = {
  guest: () => true,
  user: (caller: Caller) => caller.kind === 'user',
  administrator: (caller: Caller) => caller.kind === 'user' && caller.role === 'admin',
}

/** The kinds of reader that depend on the caller and the skill's row. A `holder` has a share link of the skill. */
export const kindsByRow = {
  holder: (caller: Caller, { id }: Ruled) => caller.sharedSkillId === id,
  owner: (caller: Caller, { owner_id }: Ruled) => callerId(caller) === owner_id,
}

/** The kinds of reader among the members of the organisation that owns a skill: see {@link memberKinds}. */
export const membershipKinds = ['insider', 'member'] as const

/** The kinds of reader that other tables store: all triples of a skill, a user and the kind. */
const storedKinds = ['collaborator', ...membershipKinds] as const

/** The roles of members of an organisation who see its private skills. */
const insiderRoles = rolesWith('readPrivate')

const { selectFrom } = expressionBuilder<Tables, never>()
const collaborator = sql.lit<ReaderKind>('collaborator').as('kind')

/** A table of the users who read a skill as collaborators or in a team: `skill_id`, `user_id`. */
const sharedWith = selectFrom('collaborators')
  .select(['skill_id', 'user_id'])
  .unionAll(
    selectFrom('team_skills')
      // Not an inner join: SQLite would read all teams of the user for each skill, in place of the teams of the skill.
      .crossJoin('team_members')
      .whereRef('team_members.team_id', '=', 'team_skills.team_id')
      .select(['team_skills.skill_id', 'team_members.user_id']),
  )
  .as('shared_with')

/** The id of a user, or the parameter of a prepared statement for the id. */
export type UserId = string | Expression<string>

/** The ids of the skills that a user reads by {@link sharedWith}. */
export function selectSharedWith(user: UserId) {
  const teams = selectFrom('team_members').select('team_id').where('user_id', '=', user)
  return selectFrom('collaborators')
    .select('skill_id')
    .where('user_id', '=', user)
    .unionAll(selectFrom('team_skills').select('skill_id').where('team_id', 'in', teams))
}

/**
 * A table of the members of organisations: `organisation_id`, `user_id`, `kind`. An `insider` has a role that reads
 * private skills; a `member` has another role.
 */
export const memberKinds = selectFrom('members')
  .select(['organisation_id', 'user_id'])
  .select((eb) =>
    eb
      .case()
      .when(
        'role',
        'in',
        insiderRoles.map((role) => sql.lit(role)),
      )
      .then(sql.lit<ReaderKind>('insider'))
      .else(sql.lit<ReaderKind>('member'))
      .end()
      .as('kind'),
  )
  .as('member_kinds')

/** A table of the users who are readers of a skill by {@link storedKinds}: `skill_id`, `user_id`, `kind`. */
export const relations = selectFrom(sharedWith)
  .select(['skill_id', 'user_id', collaborator])
  .unionAll(
    selectFrom('skills')
      .innerJoin(memberKinds, 'member_kinds.organisation_id', 'skills.owner_id')
      .select(['skills.id as skill_id', 'member_kinds.user_id', 'member_kinds.kind']),
  )
  .as('relations')

const readersByVisibility: Readers = {
  public: ['guest'],
  internal: ['user', 'holder', 'owner', 'insider', 'collaborator'],
  organisation: ['holder', 'owner', 'insider', 'collaborator', 'member'],
  private: ['holder', 'owner', 'insider', 'collaborator'],
}
const moderators: readonly ReaderKind[] = ['owner', 'insider', 'administrator']
const hiddenReaders: Readers = {
  public: moderators,
  internal: moderators,
  organisation: moderators,
  private: moderators,
}

/**
 * The read rule: by the state and the visibility of a skill, which kinds of reader see the skill. Other callers see
 * nothing. The other files of this folder derive from the rule the decision about a row, the SQL conditions and the
 * audience in the search index.
 */
export const readRule: Readonly<Record<SkillRow['state'], { readonly sight: Sight; readonly readers: Readers }>> = {
  live: { sight: 'seen', readers: readersByVisibility },
  hidden: { sight: 'seen', readers: hiddenReaders },
  taken_down: { sight: 'taken_down', readers: readersByVisibility },
  withdrawn: { sight: 'unseen', readers: { public: [], internal: [], organisation: [], private: [] } },
}

/** Whether the rule for a skill names a kind of {@link storedKinds}. */
export function isRuledByTables({ state, visibility }: Pick<Ruled, 'state' | 'visibility'>): boolean {
  return readRule[state].readers[visibility].some((kind) => isOneOf(storedKinds, kind))
}
