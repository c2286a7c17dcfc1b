import { type ModeratedSkill, toTimestamp } from '@skillstead/protocol'
import { sql, type SqlBool } from 'kysely'
import type { GovernanceContext } from './governance-context.ts'
import { toOffset, toPage } from '../kernel/paging.ts'

/** GET /moderation, for administrators: flagged and hidden skills, last decision first. */
export async function listModerated(
  context: GovernanceContext,
  { state, page, limit }: { state?: ModeratedSkill['state']; page: number; limit: number },
): Promise<{ skills: ModeratedSkill[] } & ReturnType<typeof toPage>> {
  const moderated = context.database.read
    .selectFrom('skills')
    // Written as in the partial index, so that the planner uses it.
    .where(sql<SqlBool>`moderation <> 'shown'`)
    .$if(state !== undefined, (select) => select.where('moderation', '=', state!))
  const { count } = await moderated.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow()
  const rows = await moderated
    .select(['full_name', 'moderation', 'moderation_reason', 'moderated_at'])
    .orderBy('moderated_at', 'desc')
    .orderBy('full_name')
    .limit(limit)
    .offset(toOffset(page, limit))
    .execute()
  const skills = rows.map(({ full_name, moderation, moderation_reason, moderated_at }) => ({
    fullName: full_name,
    state: moderation as ModeratedSkill['state'],
    reason: moderation_reason,
    decidedAt: moderated_at === null ? null : toTimestamp(moderated_at),
  }))
  return { skills, ...toPage(count, page, limit) }
}
