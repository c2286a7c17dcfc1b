import type { Skill } from '@skillstead/protocol'
import type { Caller } from '../kernel/caller.ts'
import type { CatalogueContext } from './catalogue-context.ts'
import { toOffset, toPage } from '../kernel/paging.ts'
import { getSkill } from './find-skill.ts'
import { isListedFor } from './listed-query.ts'
import { toSkills } from './shown-names.ts'
import { itemColumns } from './skill-document.ts'

/** GET /skills/<name>/forks: the forks that the caller may see, newest first. */
export async function listForks(
  context: CatalogueContext,
  { name, page, limit }: { name: string; page: number; limit: number },
  caller: Caller,
): Promise<{ skills: Skill[] } & ReturnType<typeof toPage>> {
  const { id, full_name } = await getSkill(context, name, caller)
  const db = context.database.read
  // A fork stores the name that its source had then.
  const earlier = await db.selectFrom('aliases').select('full_name').where('skill_id', '=', id).execute()
  const names = [full_name, ...earlier.map((alias) => alias.full_name)]
  const forks = db.selectFrom('skills').where('forked_from', 'in', names).where(isListedFor(caller))
  const { count } = await forks.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow()
  const rows = await forks
    .select(itemColumns)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .offset(toOffset(page, limit))
    .execute()
  return { skills: await toSkills(context, rows, caller), ...toPage(count, page, limit) }
}
