import { RegistryError, type SkillRequest } from '@skillstead/protocol'
import { findReadableSkill } from '../catalogue/find-skill.ts'
import { isPublicMatter } from '../catalogue/skill-log.ts'
import { isAdministrator } from '../catalogue/visibility.ts'
import { type Caller, callerId } from '../kernel/caller.ts'
import { recordAudit } from '../log/audit.ts'
import type { RequestRow, SkillRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import type { CommunityContext } from './community-context.ts'
import { getRequestRow, showRequest } from './skill-requests.ts'

interface Change {
  readonly id: string
  readonly status: RequestRow['status']
  readonly fulfilledBy?: string
}

/** PATCH /requests/<id>: one step of the transition table; `fulfilled` requires the skill that fulfils the request. */
export async function updateRequest(context: CommunityContext, change: Change, caller: Caller): Promise<SkillRequest> {
  const { id, status, fulfilledBy } = change
  if (fulfilledBy !== undefined && status !== 'fulfilled') throw unfit('is only allowed with the status fulfilled.')
  const seen = await getRequestRow(context.database.read, id)
  requireTransition(seen, status, caller)
  const skillId = fulfilledBy === undefined ? null : await getFulfilling(context, fulfilledBy, caller)
  await context.database.writer.write(async (trx) => {
    const request = await trx.selectFrom('requests').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
    if (request.status !== seen.status)
      throw new RegistryError(
        'invalid_transition',
        `This request has become ${request.status} in the meantime. Read it again.`,
      )
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
  return showRequest(context, id, caller)
}

/** The skill that fulfils a request. Throws `invalid_request` if the caller may not see it or it is not public. */
async function getFulfilling(context: CommunityContext, name: string, caller: Caller): Promise<string> {
  const skill = await findReadableSkill(context, name, caller)
  if (!skill) throw unfit(`names '${name}', which is no skill that you may see.`)
  if (!isPublicMatter(skill)) throw notPublic(skill)
  return skill.id
}

async function requirePublicNow(trx: WriteTransaction, skillId: string): Promise<void> {
  const skill = await trx.selectFrom('skills').selectAll().where('id', '=', skillId).executeTakeFirstOrThrow()
  if (!isPublicMatter(skill)) throw notPublic(skill)
}

function notPublic(skill: SkillRow): RegistryError {
  return unfit(`names ${skill.full_name}, which is not public. Specify a public skill.`)
}

function unfit(message: string): RegistryError {
  const errors = [{ path: 'fulfilledBy', message }]
  return new RegistryError('invalid_request', `fulfilledBy ${message}`, { errors })
}

type Status = RequestRow['status']

/** Who may change a request's status: any signed-in user, or only its author and administrators. */
type Mover = 'anyone' | 'party'

/** The allowed transitions and who may make them. All others are refused. */
const transitions: Readonly<Record<Status, Partial<Record<Status, Mover>>>> = {
  open: { in_progress: 'anyone', fulfilled: 'party', closed: 'party' },
  in_progress: { open: 'party', fulfilled: 'party', closed: 'party' },
  closed: { open: 'party' },
  fulfilled: {},
}

/** The statuses in which users may vote. */
export const votableStatuses: readonly Status[] = ['open', 'in_progress']

/** Throws `invalid_transition` if there is no such transition, `forbidden` if the caller may not make it. */
function requireTransition(request: RequestRow, to: Status, caller: Caller): void {
  const mover = transitions[request.status][to]
  if (!mover) {
    const reachable = Object.keys(transitions[request.status]).join(', ') || 'nothing else'
    throw new RegistryError('invalid_transition', `This request is ${request.status} and can become ${reachable}.`)
  }
  if (mover === 'party' && !isParty(request, caller))
    throw new RegistryError('forbidden', `Only the author of this request and administrators may set it to ${to}.`)
}

function isParty(request: RequestRow, caller: Caller): boolean {
  if (isAdministrator(caller)) return true
  // A guest's request has no author, and a guest caller must not match that.
  return request.requester_id !== null && request.requester_id === callerId(caller)
}
