import type { Database } from '../storage/database.ts'
import { isInList } from '../storage/list-query.ts'
import type { SkillRow } from '../storage/tables.ts'
import { readRule, relations } from './read-rule.ts'

/** Who finds a listed skill: every guest, every user, or only the readers stored with the skill. */
export type Audience = 'guests' | 'users' | 'readers'

/** Bits of the audiences that need no names. */
export const audienceBits = { guests: 1, users: 2, readers: 0 } as const

/** The mask of {@link audienceBits} for a viewer: the id of a user, or null for guests. */
export function toAudienceMask(viewer: string | null): number {
  return viewer === null ? audienceBits.guests : audienceBits.guests | audienceBits.users
}

/** The audience of a listed skill, by the visibility of the skill. */
export function toAudience({ visibility }: Pick<SkillRow, 'visibility'>): Audience {
  const kinds = readRule.live.readers[visibility]
  if (kinds.includes('guest')) return 'guests'
  return kinds.includes('user') ? 'users' : 'readers'
}

/** The ids of the readers of skills whose audience is `readers`; none for other skills. */
export async function findNamedReaders(
  { dialect, read }: Pick<Database, 'dialect' | 'read'>,
  skills: readonly Pick<SkillRow, 'id' | 'owner_id' | 'visibility'>[],
): Promise<Map<string, string[]>> {
  const named = new Map(
    skills
      .filter((skill) => toAudience(skill) === 'readers')
      .map((skill) => [skill.id, readRule.live.readers[skill.visibility]]),
  )
  const found = new Map(skills.filter(({ id }) => named.has(id)).map(({ id, owner_id }) => [id, [owner_id]]))
  if (named.size === 0) return found
  const rows = await read
    .selectFrom(relations)
    .selectAll()
    .where(isInList(dialect, 'skill_id', named.keys()))
    .execute()
  for (const { skill_id, user_id, kind } of rows) {
    if (named.get(skill_id)!.some((each) => each === kind)) found.get(skill_id)!.push(user_id)
  }
  return found
}
