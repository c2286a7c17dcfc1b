import type { SkillRequest, Warning } from '@skillstead/protocol'
import { accountId, type Caller } from '../kernel/caller.ts'
import type { CallOptions } from '../kernel/call-options.ts'
import type { CommunityContext } from './community-context.ts'
import { newId } from '../kernel/ids.ts'
import { toOffset, toPage } from '../kernel/paging.ts'
import type { RequestRow } from '../storage/rows-community.ts'
import { checkTexts } from '../catalogue/text-scan.ts'
import { selectRequests, showRequest, showRequests } from './request-form.ts'

interface Listing {
  readonly status?: RequestRow['status']
  readonly sort: 'votes' | 'recent'
  readonly page: number
  readonly limit: number
}

/** GET /requests: by votes, then newest first; or newest first. */
export async function listRequests(context: CommunityContext, { status, sort, page, limit }: Listing, caller: Caller) {
  const db = context.database.read
  const { count } = await db
    .selectFrom('requests')
    .$if(status !== undefined, (select) => select.where('status', '=', status!))
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  const rows = await selectRequests(db)
    .$if(status !== undefined, (select) => select.where('requests.status', '=', status!))
    .$if(sort === 'votes', (select) => select.orderBy('requests.votes', 'desc'))
    .orderBy('requests.id', 'desc')
    .limit(limit)
    .offset(toOffset(page, limit))
    .execute()
  return { requests: await showRequests(context, rows, caller), ...toPage(count, page, limit) }
}

/** GET /requests/<id>. */
export function getRequest(context: CommunityContext, input: { id: string }, caller: Caller): Promise<SkillRequest> {
  return showRequest(context, input.id, caller)
}

/** POST /requests: by anyone; anonymous callers are limited per address. */
export async function createRequest(
  context: CommunityContext,
  input: { title: string; description: string },
  caller: Caller,
  options: CallOptions = {},
): Promise<SkillRequest & { warnings?: Warning[] }> {
  const requesterId = accountId(caller)
  if (requesterId === null) await context.addressLimits.require('request', options.address)
  const { title, description } = input
  const found = await checkTexts(context, { title, description })
  const id = newId()
  await context.database.writer.write(async (trx) => {
    const now = context.clock.now()
    const row: RequestRow = {
      id,
      title,
      description,
      status: 'open',
      votes: 0,
      requester_id: requesterId,
      fulfilled_by: null,
      created_at: now,
      updated_at: now,
    }
    await trx.insertInto('requests').values(row).execute()
  })
  return { ...(await showRequest(context, id, caller)), ...found }
}
