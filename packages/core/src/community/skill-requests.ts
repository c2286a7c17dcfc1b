import { RegistryError, type SkillRequest, toTimestamp, type Warning } from '@skillstead/protocol'
import type { Kysely, SelectQueryBuilder } from 'kysely'
import { checkTexts } from '../catalogue/metadata-scan.ts'
import { keepSeen } from '../catalogue/visibility.ts'
import type { CallOptions } from '../kernel/call-options.ts'
import { accountId, type Caller, requireAccount } from '../kernel/caller.ts'
import { newId } from '../kernel/ids.ts'
import { toOffset, toPage } from '../kernel/paging.ts'
import type { RequestRow, Tables } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import type { CommunityContext } from './community-context.ts'
import { votableStatuses } from './update-request.ts'

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

/** A request with its author's name; null for a guest. */
interface NamedRequest extends RequestRow {
  readonly username: string | null
}

/** All requests, as a query to filter. */
function selectRequests(db: Kysely<Tables>): SelectQueryBuilder<Tables, 'requests' | 'users', NamedRequest> {
  return db
    .selectFrom('requests')
    .leftJoin('users', 'users.id', 'requests.requester_id')
    .selectAll('requests')
    .select('users.username')
}

/** The request with an id; throws `not_found`. */
export async function getRequestRow(db: Kysely<Tables>, id: string): Promise<NamedRequest> {
  const row = await selectRequests(db).where('requests.id', '=', id).executeTakeFirst()
  if (!row) throw new RegistryError('not_found', 'There is no request with this id.')
  return row
}

/** Requests as this caller may see them: the skill that fulfils one is named only to callers who may see it. */
async function showRequests(
  context: CommunityContext,
  rows: readonly NamedRequest[],
  caller: Caller,
): Promise<SkillRequest[]> {
  const names = await readFullNames(context, rows, caller)
  return rows.map((row) => ({
    id: row.id,
    title: row.title,
    description: row.description,
    status: row.status,
    votes: row.votes,
    requester: row.username === null ? null : { username: row.username },
    fulfilledBy: (row.fulfilled_by !== null && names.get(row.fulfilled_by)) || null,
    createdAt: toTimestamp(row.created_at),
    updatedAt: toTimestamp(row.updated_at),
  }))
}

/** The request with an id as this caller may see it; throws `not_found`. */
export async function showRequest(context: CommunityContext, id: string, caller: Caller): Promise<SkillRequest> {
  const row = await getRequestRow(context.database.read, id)
  return (await showRequests(context, [row], caller))[0]!
}

async function readFullNames(context: CommunityContext, rows: readonly RequestRow[], caller: Caller) {
  const ids = rows.map((row) => row.fulfilled_by).filter((id) => id !== null)
  if (ids.length === 0) return new Map<string, string>()
  const skills = await context.database.read
    .selectFrom('skills')
    .select(['id', 'owner_id', 'visibility', 'state', 'full_name'])
    .where('id', 'in', ids)
    .execute()
  return new Map((await keepSeen(context, skills, caller)).map((skill) => [skill.id, skill.full_name]))
}

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
