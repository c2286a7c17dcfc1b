import type { Database } from '@skillstead/core/internal'
import type { WritePayloads } from '../queue/upstream-write.ts'
import { withUpstreams } from '../tables/mirror-tables.ts'

type Read = Database['read']

/**
 * What a skill of this node is called at an upstream: what came from there is called the same, what is from here lies
 * under the name that its owner has there.
 */
export async function findNameThere(db: Read, upstream: string, fullName: string): Promise<string> {
  const skill = await db
    .selectFrom('skills')
    .select(['owner_id', 'owner', 'name', 'origin_kind', 'origin_upstream'])
    .where('full_name', '=', fullName)
    .executeTakeFirst()
  if (!skill || (skill.origin_kind === 'mirror' && skill.origin_upstream === upstream)) return fullName
  const link = await withUpstreams(db)
    .selectFrom('upstream_links')
    .select('username')
    .where('user_id', '=', skill.owner_id)
    .where('upstream', '=', upstream)
    .executeTakeFirst()
  return `${link?.username || skill.owner}/${(await findRename(db, upstream, fullName)) ?? skill.name}`
}

/** The short name that the operator chose for a skill there, where its own was taken: what follows goes there too. */
export async function findRename(db: Read, upstream: string, fullName: string): Promise<string | undefined> {
  const rows = await withUpstreams(db)
    .selectFrom('upstream_writes')
    .select('payload')
    .where('upstream', '=', upstream)
    .where('state', 'in', ['pending', 'conflict', 'delivered'])
    .where('subject', '=', fullName)
    .where('kind', 'in', ['publish', 'fork'])
    .orderBy('position', 'desc')
    .execute()
  const payloads = rows.map(({ payload }) => JSON.parse(payload) as WritePayloads['publish' | 'fork'])
  return payloads.find(({ renamedTo }) => renamedTo !== undefined)?.renamedTo
}

/** The full name of a mirrored skill as it is now: it may have been handed over since. */
export async function findNameNow(db: Read, skillId: string): Promise<string | undefined> {
  const skill = await db.selectFrom('skills').select('full_name').where('id', '=', skillId).executeTakeFirst()
  return skill?.full_name
}
