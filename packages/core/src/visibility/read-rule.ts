import { expressionBuilder, type SelectQueryBuilder, sql } from 'kysely'
import { type Caller, callerId } from '../kernel/caller.ts'
import type { SkillRow, Tables } from '../storage/tables.ts'

/** What a caller sees of a skill: all of it, the fact that it is under a takedown (which is not secret), or nothing. */
export type Sight = 'seen' | 'taken_down' | 'unseen'

/** The columns that the rule depends on. For a pack, `owner_id` is the id of the curator. */
export type Ruled = Pick<SkillRow, 'id' | 'owner_id' | 'visibility' | 'state'>

type Visibility = SkillRow['visibility']
type Readers = Readonly<Record<Visibility, readonly ReaderKind[]>>
export type ReaderKind = keyof typeof kindsByCaller | keyof typeof kindsByRow | keyof typeof kindsByTable

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

const { selectFrom } = expressionBuilder<Tables, never>()

/** The kinds of reader that other tables store: all pairs of a skill and a user of the kind. */
export const kindsByTable = {
  collaborator: selectFrom('collaborators').select(['skill_id', 'user_id']),
}

const readersByVisibility: Readers = {
  public: ['guest'],
  internal: ['user', 'holder', 'owner', 'collaborator'],
  private: ['holder', 'owner', 'collaborator'],
}
const moderators: readonly ReaderKind[] = ['owner', 'administrator']

/**
 * The read rule: by the state and the visibility of a skill, which kinds of reader see the skill; all others see
 * nothing. The other files of this folder derive from the rule the decision about a row, the SQL conditions and the
 * audience in the search index.
 */
export const readRule: Readonly<Record<SkillRow['state'], { readonly sight: Sight; readonly readers: Readers }>> = {
  live: { sight: 'seen', readers: readersByVisibility },
  hidden: { sight: 'seen', readers: { public: moderators, internal: moderators, private: moderators } },
  taken_down: { sight: 'taken_down', readers: readersByVisibility },
  withdrawn: { sight: 'unseen', readers: { public: [], internal: [], private: [] } },
}

type Pairs = SelectQueryBuilder<Tables, keyof Tables, { skill_id: string; user_id: string }>
const relationPairs = Object.entries<Pairs>(kindsByTable).map(([kind, pair]) => pair.select(sql.lit(kind).as('kind')))

/** A table of the users who are readers of a skill by {@link kindsByTable}: `skill_id`, `user_id`, `kind`. */
export const relations = relationPairs.reduce((all, one) => all.unionAll(one)).as('relations')

/** Whether the rule for a skill names a kind of {@link kindsByTable}. */
export function isRuledByTables({ state, visibility }: Pick<Ruled, 'state' | 'visibility'>): boolean {
  return readRule[state].readers[visibility].some((kind) => kind in kindsByTable)
}
