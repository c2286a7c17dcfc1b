import { RegistryError, type SkillRequest } from '@skillstead/protocol'
import { recordAudit } from '../log/audit.ts'
import { callerId, type Caller } from '../kernel/caller.ts'
import type { CommunityContext } from './community-context.ts'
import { findReadableSkill } from '../catalogue/find-skill.ts'
import { isPublicMatter } from '../catalogue/skill-log.ts'
import type { RequestRow } from '../storage/rows-community.ts'
import type { SkillRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { getRequestRow, showRequest } from './request-form.ts'
import { requireTransition } from './request-transitions.ts'

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
