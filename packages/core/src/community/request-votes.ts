import { RegistryError, type SkillRequest } from '@skillstead/protocol'
import { requireAccount, type Caller } from '../kernel/caller.ts'
import type { CommunityContext } from './community-context.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { toOffset, toPage } from '../kernel/paging.ts'
import { getRequestRow, selectRequests, showRequest, showRequests } from './request-form.ts'
import { votableStatuses } from './request-transitions.ts'

/** POST /requests/<id>/vote: one vote per user, while the request is open or in progress. Idempotent. */
export async function voteForRequest(
  context: CommunityContext,
  { id }: { id: string },
  caller: Caller,
): Promise<SkillRequest> {
  const { userId } = requireAccount(caller)
  await context.database.writer.write(async (trx) => {
    const { status } = await getRequestRow(trx, id)
    if (!votableStatuses.includes(status))
      throw new RegistryError(
        'conflict',
        `This request is ${status}. Users can vote only for open requests and requests in progress.`,
      )
    const added = await trx
      .insertInto('request_votes')
      .values({ request_id: id, user_id: userId, created_at: context.clock.now() })
      .onConflict((conflict) => conflict.doNothing())
      .returning('user_id')
      .execute()
    await addVotes(trx, id, added.length)
  })
  return showRequest(context, id, caller)
}

/** DELETE /requests/<id>/vote: removes the caller's vote, if any. */
export async function withdrawRequestVote(
  context: CommunityContext,
  { id }: { id: string },
  caller: Caller,
): Promise<SkillRequest> {
  const { userId } = requireAccount(caller)
  await context.database.writer.write(async (trx) => {
    const gone = await trx
      .deleteFrom('request_votes')
      .where('request_id', '=', id)
      .where('user_id', '=', userId)
      .returning('user_id')
      .execute()
    await addVotes(trx, id, -gone.length)
  })
  return showRequest(context, id, caller)
}

/** GET /votes: the requests that the caller voted for, newest vote first. */
export async function listVotes(
  context: CommunityContext,
  { page, limit }: { page: number; limit: number },
  caller: Caller,
): Promise<{ requests: SkillRequest[] } & ReturnType<typeof toPage>> {
  const { userId } = requireAccount(caller)
  const db = context.database.read
  const { count } = await db
    .selectFrom('request_votes')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  const rows = await selectRequests(db)
    .innerJoin('request_votes', 'request_votes.request_id', 'requests.id')
    .where('request_votes.user_id', '=', userId)
    .orderBy('request_votes.created_at', 'desc')
    .orderBy('requests.id', 'desc')
    .limit(limit)
    .offset(toOffset(page, limit))
    .execute()
  return { requests: await showRequests(context, rows, caller), ...toPage(count, page, limit) }
}

async function addVotes(trx: WriteTransaction, id: string, step: number): Promise<void> {
  if (step === 0) return
  await trx
    .updateTable('requests')
    .set((eb) => ({ votes: eb('votes', '+', step) }))
    .where('id', '=', id)
    .execute()
}
