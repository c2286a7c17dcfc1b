import { RegistryError, type SkillRequest, toTimestamp } from '@skillstead/protocol'
import type { Kysely, SelectQueryBuilder } from 'kysely'
import type { CommunityContext } from './community-context.ts'
import type { StorageContext } from '../storage/storage-context.ts'
import { findReadableSkill } from '../catalogue/skills/find-skill.ts'
import { checkTexts } from '../catalogue/inspecting/metadata-scan.ts'
import { isPublished, keepSeen } from '../visibility/decisions.ts'
import { isAdministrator } from '../visibility/rights.ts'
import { accountId, type Caller, callerId, requireAccount } from '../kernel/caller.ts'
import { invalidField } from '../kernel/field-errors.ts'
import { newId } from '../kernel/ids.ts'
import type { Input, Operation } from '../kernel/operation-input.ts'
import { recordAudit } from '../log/audit.ts'
import { readPage } from '../storage/read-page.ts'
import { addRow, increment, removeRows } from '../storage/table-rows.ts'
import type { RequestRow, SkillRow, Tables } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'

/** GET /requests: sorted by votes, then newest first, or only newest first. */
export const listRequests: Operation<'listRequests', StorageContext> = async (context, input, caller) => {
  const { status, sort } = input
  const db = context.database.read
  const all = db.selectFrom('requests').$if(status !== undefined, (select) => select.where('status', '=', status!))
  const sorted = selectRequests(db)
    .$if(status !== undefined, (select) => select.where('requests.status', '=', status!))
    .$if(sort === 'votes', (select) => select.orderBy('requests.votes', 'desc'))
    .orderBy('requests.id', 'desc')
  const { rows, paging } = await readPage(all, sorted, input)
  return { requests: await showRequests(context, rows, caller), ...paging }
}

export function getRequest(context: StorageContext, input: Input<'getRequest'>, caller: Caller) {
  return showRequestById(context, input.id, caller)
}

/** POST /requests: by anyone; anonymous callers are limited per address. */
export const createRequest: Operation<'createRequest', CommunityContext> = async (
  context,
  input,
  caller,
  options = {},
) => {
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
  return { ...(await showRequestById(context, id, caller)), ...found }
}

/** A request with the name of its author; null for a request by a guest. */
interface NamedRequest extends RequestRow {
  readonly username: string | null
}

/** A query of all requests, for callers to filter. */
function selectRequests(db: Kysely<Tables>): SelectQueryBuilder<Tables, 'requests' | 'users', NamedRequest> {
  return db
    .selectFrom('requests')
    .leftJoin('users', 'users.id', 'requests.requester_id')
    .selectAll('requests')
    .select('users.username')
}

/** The request with an id; throws `not_found`. */
async function getRequestRow(db: Kysely<Tables>, id: string): Promise<NamedRequest> {
  const row = await selectRequests(db).where('requests.id', '=', id).executeTakeFirst()
  if (!row) throw new RegistryError('not_found', 'There is no request with this id.')
  return row
}

/**
 * Requests as this caller may see them: the skill that fulfils a request is named only to callers who may see the
 * skill.
 */
async function showRequests(context: StorageContext, rows: readonly NamedRequest[], caller: Caller) {
  const names = await readFulfillingNames(context, rows, caller)
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
async function showRequestById(context: StorageContext, id: string, caller: Caller): Promise<SkillRequest> {
  const row = await getRequestRow(context.database.read, id)
  return (await showRequests(context, [row], caller))[0]!
}

async function readFulfillingNames(context: StorageContext, rows: readonly RequestRow[], caller: Caller) {
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
export const voteForRequest: Operation<'voteForRequest', StorageContext> = async (context, { id }, caller) => {
  const { userId } = requireAccount(caller)
  await context.database.writer.write(async (trx) => {
    const { status } = await getRequestRow(trx, id)
    if (status !== 'open' && status !== 'in_progress')
      throw new RegistryError('conflict', `This request is ${status}. Vote for one that is open or in progress.`)
    const vote = { request_id: id, user_id: userId, created_at: context.clock.now() }
    if (await addRow(trx, 'request_votes', vote)) await increment(trx, 'requests', id, { votes: 1 })
  })
  return showRequestById(context, id, caller)
}

/** DELETE /requests/<id>/vote: removes the caller's vote, if any. */
export const withdrawRequestVote: Operation<'withdrawRequestVote', StorageContext> = async (context, input, caller) => {
  const { id } = input
  const { userId } = requireAccount(caller)
  await context.database.writer.write(async (trx) => {
    const isRemoved = await removeRows(trx, 'request_votes', { request_id: id, user_id: userId })
    if (isRemoved) await increment(trx, 'requests', id, { votes: -1 })
  })
  return showRequestById(context, id, caller)
}

/** GET /votes: the requests that the caller voted for, newest vote first. */
export const listVotes: Operation<'listVotes', StorageContext> = async (context, input, caller) => {
  const { userId } = requireAccount(caller)
  const db = context.database.read
  const all = db.selectFrom('request_votes').where('user_id', '=', userId)
  const sorted = selectRequests(db)
    .innerJoin('request_votes', 'request_votes.request_id', 'requests.id')
    .where('request_votes.user_id', '=', userId)
    .orderBy('request_votes.created_at', 'desc')
    .orderBy('requests.id', 'desc')
  const { rows, paging } = await readPage(all, sorted, input)
  return { requests: await showRequests(context, rows, caller), ...paging }
}

/**
 * PATCH /requests/<id>: changes the status by one step of the transition table; `fulfilled` requires the skill that
 * fulfils the request.
 */
export const updateRequest: Operation<'updateRequest', StorageContext> = async (context, change, caller) => {
  const { id, status, fulfilledBy } = change
  if (fulfilledBy !== undefined && status !== 'fulfilled')
    throw invalidField('fulfilledBy', 'is only allowed with the status fulfilled.')
  const seen = await getRequestRow(context.database.read, id)
  requireRequestTransition(seen, status, caller)
  const skillId = fulfilledBy === undefined ? null : await getFulfilling(context, fulfilledBy, caller)
  await context.database.writer.write(async (trx) => {
    const request = await trx.selectFrom('requests').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
    if (request.status !== seen.status)
      throw new RegistryError('invalid_transition', `This request is now ${request.status}. Read it again.`)
    if (skillId !== null) await requirePublicNow(trx, skillId)
    const at = context.clock.now()
    await trx
      .updateTable('requests')
      .set({ status, fulfilled_by: skillId, updated_at: at })
      .where('id', '=', id)
      .execute()
    if (request.requester_id !== null && request.requester_id === callerId(caller)) return
    const data = { from: request.status, ...(skillId !== null && { fulfilledBy: skillId }) }
    await recordAudit(trx, { caller, action: `request.${status}`, subject: id, at, data })
  })
  return showRequestById(context, id, caller)
}

/** The skill that fulfils a request. Throws `invalid_request` if the caller may not see it or it is not public. */
async function getFulfilling(context: StorageContext, name: string, caller: Caller): Promise<string> {
  const skill = await findReadableSkill(context, name, caller)
  if (!skill) throw invalidField('fulfilledBy', `names '${name}', which is no skill that you may see.`)
  if (!isPublished(skill)) throw refuseUnpublished(skill)
  return skill.id
}

async function requirePublicNow(trx: WriteTransaction, skillId: string): Promise<void> {
  const skill = await trx.selectFrom('skills').selectAll().where('id', '=', skillId).executeTakeFirstOrThrow()
  if (!isPublished(skill)) throw refuseUnpublished(skill)
}

function refuseUnpublished(skill: SkillRow): RegistryError {
  return invalidField('fulfilledBy', `names ${skill.full_name}, which is not public. Specify a public skill.`)
}

type RequestStatus = RequestRow['status']

/** Who may change a request's status: any signed-in user, or only its author and administrators. */
type RequestMover = 'anyone' | 'party'

/** The allowed transitions and who may make them. All others are refused. */
const requestTransitions: Readonly<Record<RequestStatus, Partial<Record<RequestStatus, RequestMover>>>> = {
  open: { in_progress: 'anyone', fulfilled: 'party', closed: 'party' },
  in_progress: { open: 'party', fulfilled: 'party', closed: 'party' },
  closed: { open: 'party' },
  fulfilled: {},
}

/** Throws `invalid_transition` if there is no such transition, `forbidden` if the caller may not make it. */
function requireRequestTransition(request: RequestRow, to: RequestStatus, caller: Caller): void {
  const mover = requestTransitions[request.status][to]
  if (!mover) {
    const reachable = Object.keys(requestTransitions[request.status]).join(', ') || 'nothing else'
    throw new RegistryError('invalid_transition', `This request is ${request.status} and can become ${reachable}.`)
  }
  if (mover === 'party' && !isParty(request, caller))
    throw new RegistryError('forbidden', `Only the author of this request and administrators may set it to ${to}.`)
}

function isParty(request: RequestRow, caller: Caller): boolean {
  if (isAdministrator(caller)) return true
  // A guest's request has no author, and a guest has no id: the two must not count as equal.
  return request.requester_id !== null && request.requester_id === callerId(caller)
}
