import type { Caller } from '../kernel/caller.ts'
import type { CommunityContext } from './community-context.ts'
import { toOffset, toPage } from '../kernel/paging.ts'
import { getSkill } from '../catalogue/find-skill.ts'
import { toAgentReview } from './agent-review-form.ts'

/** Each in descending order; ties are ordered by id, so that pages never overlap. */
const sortColumns = {
  recent: ['updated_at'],
  helpful: ['helpful_count'],
  rating_high: ['rating', 'helpful_count'],
} as const

/** GET /skills/<name>/agent-reviews. */
export async function listAgentReviews(
  context: CommunityContext,
  input: { name: string; sort: keyof typeof sortColumns; page: number; limit: number },
  caller: Caller,
) {
  const { sort, page, limit } = input
  const skill = await getSkill(context, input.name, caller)
  const reviews = context.database.read.selectFrom('agent_reviews').where('skill_id', '=', skill.id)
  const { count } = await reviews.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow()
  const sorted = [...sortColumns[sort], 'id' as const]
  const rows = await reviews
    .innerJoin('agents', 'agents.id', 'agent_reviews.agent_id')
    .selectAll('agent_reviews')
    .select(['agent_key', 'display_name', 'platform_id'])
    .$call((query) => sorted.reduce((ordered, column) => ordered.orderBy(`agent_reviews.${column}`, 'desc'), query))
    .limit(limit)
    .offset(toOffset(page, limit))
    .execute()
  return { reviews: rows.map((row) => toAgentReview(row, row)), ...toPage(count, page, limit) }
}
