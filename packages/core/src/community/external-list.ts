import type { CommunityContext } from './community-context.ts'
import { toOffset, toPage } from '../kernel/paging.ts'
import { toExternalSkill } from './external-form.ts'

interface ListInput {
  registry: 'skills.sh' | 'github' | 'all'
  verified?: boolean
  page: number
  limit: number
}

/**
 * GET /external: most installed first. `verified` selects skills that were scanned, with any verdict, or those that
 * were not.
 */
export async function listExternal(context: CommunityContext, { registry, verified, page, limit }: ListInput) {
  let matching = context.database.read.selectFrom('external_skills')
  if (registry !== 'all') matching = matching.where('registry', '=', registry)
  if (verified !== undefined) matching = matching.where('verdict', verified ? 'is not' : 'is', null)
  const { count } = await matching.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow()
  const rows = await matching
    .selectAll()
    .orderBy('installs', 'desc')
    .orderBy('name')
    .orderBy('id')
    .limit(limit)
    .offset(toOffset(page, limit))
    .execute()
  return { externalSkills: rows.map(toExternalSkill), ...toPage(count, page, limit) }
}
