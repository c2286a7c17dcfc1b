import { type OwnSkill, type Skill, toTimestamp } from '@skillstead/protocol'
import { type Caller, requireAccount } from '../kernel/caller.ts'
import { toOffset, toPage } from '../kernel/paging.ts'
import type { SkillRow } from '../storage/tables.ts'
import type { CatalogueContext } from './catalogue-context.ts'
import { getSkill } from './find-skill.ts'
import { toSkills } from './shown-names.ts'
import { itemColumns, toSkill } from './skill-document.ts'
import { isListedFor } from './visibility.ts'

const ownColumns = [...itemColumns, 'visibility', 'state', 'moderation', 'updated_at'] as const

/** GET /users/me/skills: all skills of the caller that are not deleted, last changed first. */
export async function listOwnSkills(
  context: CatalogueContext,
  { page, limit }: { page: number; limit: number },
  caller: Caller,
): Promise<{ skills: OwnSkill[] } & ReturnType<typeof toPage>> {
  const { userId } = requireAccount(caller)
  const own = context.database.read
    .selectFrom('skills')
    .where('owner_id', '=', userId)
    .where('state', '!=', 'withdrawn')
    .where('stub', '=', 0)
  const { count } = await own.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow()
  const rows = await own
    .select(ownColumns)
    .orderBy('updated_at', 'desc')
    .orderBy('full_name')
    .limit(limit)
    .offset(toOffset(page, limit))
    .execute()
  return { skills: rows.map(toOwnSkill), ...toPage(count, page, limit) }
}

function toOwnSkill(row: Pick<SkillRow, (typeof ownColumns)[number]>): OwnSkill {
  return {
    ...toSkill(row),
    visibility: row.visibility,
    state: toState(row),
    flagged: row.moderation === 'flagged',
    updatedAt: toTimestamp(row.updated_at),
  }
}

function toState({ state, latest_version }: Pick<SkillRow, 'state' | 'latest_version'>): OwnSkill['state'] {
  if (state === 'hidden' || state === 'taken_down') return state
  return latest_version === '' ? 'yanked' : 'published'
}

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
