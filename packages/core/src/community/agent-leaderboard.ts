import type { CommunityContext } from './community-context.ts'
import { toOffset, toPage } from '../kernel/paging.ts'
import { toAgent } from './agent-form.ts'

const sortColumns = {
  trust: 'trust_score',
  activity: 'last_seen_at',
  published: 'published_count',
  reviews: 'review_count',
} as const

/** GET /agents: highest trust first, then by key, so that pages never overlap. */
export async function listAgents(
  context: CommunityContext,
  input: { sort: keyof typeof sortColumns; platform?: string; page: number; limit: number },
) {
  const { sort, platform, page, limit } = input
  const agents = context.database.read
    .selectFrom('agents')
    .$if(platform !== undefined, (query) => query.where('platform_id', '=', platform!))
  const { count } = await agents.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow()
  const rows = await agents
    .selectAll()
    .orderBy(sortColumns[sort], 'desc')
    .orderBy('agent_key')
    .limit(limit)
    .offset(toOffset(page, limit))
    .execute()
  return { agents: rows.map(toAgent), ...toPage(count, page, limit) }
}
