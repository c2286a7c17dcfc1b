import { type OwnSkill, toTimestamp } from '@skillstead/protocol'
import { requireAccount, type Caller } from '../kernel/caller.ts'
import type { CatalogueContext } from './catalogue-context.ts'
import { toOffset, toPage } from '../kernel/paging.ts'
import type { SkillRow } from '../storage/tables.ts'
import { itemColumns, toSkill } from './skill-document.ts'

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
