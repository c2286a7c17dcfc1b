import type { Database } from '@skillstead/core/internal'
import { selectPublishing, type WritePayloads } from '../queue/upstream-write.ts'
import { selectLink } from '../tables/mirror-tables.ts'

type Read = Database['read']

/**
 * The full name of a skill at an upstream: the same name for a skill that was mirrored from this upstream, else a name
 * in the namespace that the owner has at the upstream.
 */
export async function findRemoteName(db: Read, upstream: string, fullName: string): Promise<string> {
  const skill = await db
    .selectFrom('skills')
    .select(['owner_id', 'owner', 'name', 'origin_kind', 'origin_upstream'])
    .where('full_name', '=', fullName)
    .executeTakeFirst()
  if (!skill || (skill.origin_kind === 'mirror' && skill.origin_upstream === upstream)) return fullName
  const link = await selectLink(db, upstream, skill.owner_id).select('username').executeTakeFirst()
  return `${link?.username || skill.owner}/${(await findRename(db, upstream, fullName)) ?? skill.name}`
}

/**
 * The short name that the operator chose for a skill at the upstream because its own name was taken; undefined if none
 * was chosen. Later writes of the skill use the chosen name, too.
 */
export async function findRename(db: Read, upstream: string, fullName: string): Promise<string | undefined> {
  const query = selectPublishing(db, upstream).where('subject', '=', fullName)
  const rows = await query.select('payload').orderBy('position', 'desc').execute()
  const payloads = rows.map(({ payload }): WritePayloads['publish' | 'fork'] => JSON.parse(payload))
  return payloads.find(({ renamedTo }) => renamedTo !== undefined)?.renamedTo
}

/** The current full name of a skill, by its id, because the skill may have been transferred. */
export async function findCurrentName(db: Read, skillId: string): Promise<string | undefined> {
  const skill = await db.selectFrom('skills').select('full_name').where('id', '=', skillId).executeTakeFirst()
  return skill?.full_name
}
