import type { Skill } from '@skillstead/protocol'
import { requireAccount, type Caller } from '../kernel/caller.ts'
import type { CatalogueContext } from './catalogue-context.ts'
import { toOffset, toPage } from '../kernel/paging.ts'
import { getSkill } from './find-skill.ts'
import { isListedFor } from './listed-query.ts'
import { toSkills } from './shown-names.ts'
import { itemColumns } from './skill-document.ts'

/** GET /skills/<name>/star: whether the caller starred it. */
export async function showStar(context: CatalogueContext, { name }: { name: string }, caller: Caller) {
  const { userId } = requireAccount(caller)
  const { id, stars } = await getSkill(context, name, caller)
  const mine = await context.database.read
    .selectFrom('stars')
    .select('skill_id')
    .where('skill_id', '=', id)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return { starred: mine !== undefined, stars }
}

/** GET /stars: starred skills that the caller may still see, newest star first. */
export async function listStars(
  context: CatalogueContext,
  { page, limit }: { page: number; limit: number },
  caller: Caller,
): Promise<{ skills: Skill[] } & ReturnType<typeof toPage>> {
  const { userId } = requireAccount(caller)
  const starred = context.database.read
    .selectFrom('stars')
    .innerJoin('skills', 'skills.id', 'stars.skill_id')
    .where('stars.user_id', '=', userId)
    .where(isListedFor(caller))
  const { count } = await starred.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow()
  const rows = await starred
    .select(itemColumns.map((column) => `skills.${column}` as const))
    .orderBy('stars.created_at', 'desc')
    .orderBy('skills.full_name')
    .limit(limit)
    .offset(toOffset(page, limit))
    .execute()
  return { skills: await toSkills(context, rows, caller), ...toPage(count, page, limit) }
}
