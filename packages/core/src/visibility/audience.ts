import { type MemberRole, rightsByRole } from '@skillstead/protocol'
import { type Kysely, sql } from 'kysely'
import { compileQuery, type Param } from '../storage/compiled-query.ts'
import type { SkillRow, Tables } from '../storage/tables.ts'
import { type NamedKind, readRule, type Ruled } from './read-rule.ts'

/** Who finds a listed skill: every guest, every user, or only the readers stored with the skill. */
export type Audience = 'guests' | 'users' | 'readers'

/** The bit of each audience. None for `readers`, who find a skill by their {@link ViewerKeys}. */
export const audienceBits = { guests: 1, users: 2, readers: 0 } as const

/** The keys of a user, as {@link readKeysOf} returns them; null for guests. */
export type ViewerKeys = readonly string[] | null

/** The mask of {@link audienceBits} for a viewer. */
export function toAudienceMask(viewer: ViewerKeys): number {
  return viewer === null ? audienceBits.guests : audienceBits.guests | audienceBits.users
}

/** The audience of a listed skill, by the visibility of the skill. */
export function toAudience({ visibility }: Pick<SkillRow, 'visibility'>): Audience {
  const kinds = readRule.live.readers[visibility]
  if (kinds.includes('guest')) return 'guests'
  return kinds.includes('user') ? 'users' : 'readers'
}

/**
 * The keys of the named readers of skills, by skill; none for a skill that every user sees. A key is the id of a user,
 * of a team, or of an organisation. The id of an organisation stands for the members whose role reads private skills;
 * {@link toMemberKey} stands for all of its members. So the keys of a skill do not change when a user joins or leaves a
 * team or an organisation.
 */
export async function findReaderKeys(db: Kysely<Tables>, skills: readonly Ruled[]): Promise<Map<string, string[]>> {
  const named = skills.filter((skill) => !isOpenToUsers(skill))
  const found = new Map(named.map((skill) => [skill.id, toOwnerKeys(skill)]))
  const shared = named.filter(({ state, visibility }) => readRule[state].readers[visibility].includes('collaborator'))
  if (shared.length === 0) return found
  const ids = shared.map(({ id }) => id)
  const collaborators = db
    .selectFrom('collaborators')
    .select(['skill_id', 'user_id as key'])
    .where('skill_id', 'in', ids)
  const teams = db.selectFrom('team_skills').select(['skill_id', 'team_id as key']).where('skill_id', 'in', ids)
  for (const { skill_id, key } of await collaborators.unionAll(teams).execute()) found.get(skill_id)!.push(key)
  return found
}

/** The key of a kind of reader that depends on the owner of a skill. */
const ownerKeys: Readonly<Record<Exclude<NamedKind, 'collaborator'>, (ownerId: string) => string>> = {
  owner: (ownerId) => ownerId,
  insider: (organisationId) => organisationId,
  member: toMemberKey,
}

function toOwnerKeys({ state, visibility, owner_id }: Ruled): string[] {
  const kinds = readRule[state].readers[visibility]
  const keys = Object.entries(ownerKeys).flatMap(([kind, toKey]) =>
    kinds.includes(kind as NamedKind) ? [toKey(owner_id)] : [],
  )
  return [...new Set(keys)]
}

/** Whether every user sees a skill, because its readers include users or guests. */
function isOpenToUsers({ state, visibility }: Ruled): boolean {
  const kinds = readRule[state].readers[visibility]
  return kinds.includes('guest') || kinds.includes('user')
}

/** The keys that a user has, as {@link findReaderKeys} returns them for skills; null for a guest. */
export async function readKeysOf(db: Kysely<Tables>, userId: string | null): Promise<ViewerKeys> {
  if (userId === null) return null
  const rows = await selectGroups(db, { userId })
  const keys = rows.flatMap(({ id, role }) => {
    if (role === '') return [id]
    return rightsByRole[role].includes('readPrivate') ? [id, toMemberKey(id)] : [toMemberKey(id)]
  })
  return [userId, ...keys]
}

/** The organisations of a user with the roles there, and the user's teams with an empty role. */
const selectGroups = compileQuery((db, param: Param<{ userId: string }>) =>
  db
    .selectFrom('team_members')
    .select(['team_id as id', sql.lit<MemberRole | ''>('').as('role')])
    .where('user_id', '=', param('userId'))
    .unionAll(
      db
        .selectFrom('members')
        .select(['organisation_id as id', sql<MemberRole | ''>`role`.as('role')])
        .where('user_id', '=', param('userId')),
    ),
)

function toMemberKey(organisationId: string): string {
  return `members ${organisationId}`
}
