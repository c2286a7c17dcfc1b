import { type DmcaCase, RegistryError } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import type { StorageContext } from '../storage/storage-context.ts'
import type { CatalogueContext } from '../catalogue/context/catalogue-context.ts'
import { getMovedSkill } from '../catalogue/skills/find-skill.ts'
import { TakenDown } from '../visibility/decisions.ts'
import { hasRight } from '../visibility/rights.ts'
import type { CallOptions } from '../kernel/call-options.ts'
import type { Caller } from '../kernel/caller.ts'
import { newId } from '../kernel/ids.ts'
import type { Input } from '../kernel/operation-input.ts'
import { createToken } from '../kernel/tokens.ts'
import { countRows } from '../storage/count-rows.ts'
import type { DmcaCaseRow, Tables } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import type { GovernanceContext } from './governance-context.ts'
import { toFullCase, toPublicCase } from './read-cases.ts'
import { getCase, moveCase, recordStep, requireCaseTransition } from './takedown-cases.ts'

/** POST /dmca: a claim about a skill that the caller may see. The case token is shown only in this response. */
export async function submitDmca(
  context: GovernanceContext,
  input: Input<'submitDmca'>,
  caller: Caller,
  options: CallOptions = {},
): Promise<DmcaCase & { caseToken: string }> {
  const { skillName, ...notice } = input
  const skillId = await findClaimedSkill(context, skillName, caller)
  await context.addressLimits.require('takedown', options.address)
  const { token, hash } = createToken('sct')
  const row: DmcaCaseRow = {
    id: newId(),
    skill_id: skillId,
    status: 'submitted',
    notice: JSON.stringify(notice),
    token_hash: hash,
    counter_notice_until: null,
    submitted_at: context.clock.now(),
  }
  await context.database.writer.write(async (trx) => {
    const { state } = await trx.selectFrom('skills').select('state').where('id', '=', skillId).executeTakeFirstOrThrow()
    if (state === 'withdrawn') throw new RegistryError('not_found', `There is no skill '${skillName}' any more.`)
    await trx.insertInto('dmca_cases').values(row).execute()
    await recordStep(trx, { caseId: row.id, status: row.status, at: row.submitted_at })
  })
  return { ...(await toFullCase(context.database.read, row)), caseToken: token }
}

/** A skill that is already taken down can be claimed by another claimant too. */
async function findClaimedSkill(context: StorageContext, ref: string, caller: Caller): Promise<string> {
  try {
    return (await getMovedSkill(context, ref, caller)).id
  } catch (error) {
    if (error instanceof TakenDown) return error.skillId
    throw error
  }
}

/** The maximum number of unconfirmed counter-notices of a case. */
const unconfirmedMax = 20

/**
 * POST /dmca/<id>/counter-notice. Sent with a key of the skill's owner and the scope `manage`, a counter-notice changes
 * the status of the case. Sent without such a key, it is stored until an administrator confirms its sender, so that no
 * one can impersonate the owner. Several are stored, so that no one can block the owner by sending one first. Throws
 * `invalid_transition` unless the case is `removed`.
 */
export async function submitCounterNotice(
  context: GovernanceContext,
  input: Input<'submitCounterNotice'>,
  caller: Caller,
  options: CallOptions = {},
): Promise<DmcaCase> {
  const { id, ...notice } = input
  const known = await getCase(context.database.read, id)
  requireCaseTransition(known.status, 'counter_noticed', 'owner')
  if (!(await isFromOwner(context.database.read, known, caller)))
    await context.addressLimits.require('takedown', options.address, id)
  const row = await context.database.writer.write(async (trx) => {
    const before = await getCase(trx, id)
    requireCaseTransition(before.status, 'counter_noticed', 'owner')
    const confirmed = await isFromOwner(trx, before, caller)
    if (!confirmed) await refuseTooManyUnconfirmed(trx, id)
    const answer = { id: newId(), case_id: id, notice: JSON.stringify(notice), sent_at: context.clock.now() }
    await trx
      .insertInto('dmca_counter_notices')
      .values({ ...answer, confirmed: 0 })
      .execute()
    return confirmed ? acceptCounterNotice(context, trx, before, { id: answer.id, by: 'owner', caller }) : before
  })
  return toPublicCase(context.database.read, row)
}

/**
 * Accepts a counter-notice as the owner's, and changes the status of the case. Deletes the other counter-notices, which
 * other people sent.
 */
export async function acceptCounterNotice(
  context: CatalogueContext,
  trx: WriteTransaction,
  before: DmcaCaseRow,
  accepted: { id: string; by: 'owner' | 'administrator'; caller: Caller; note?: string },
): Promise<DmcaCaseRow> {
  const { id, ...move } = accepted
  await trx.updateTable('dmca_counter_notices').set({ confirmed: 1 }).where('id', '=', id).execute()
  await trx.deleteFrom('dmca_counter_notices').where('case_id', '=', before.id).where('id', '!=', id).execute()
  return moveCase(context, trx, before, { to: 'counter_noticed', ...move })
}

/** The current owner: the skill may have been transferred between the claim and the counter-notice. */
async function isFromOwner(db: Kysely<Tables>, row: DmcaCaseRow, caller: Caller): Promise<boolean> {
  if (caller.kind === 'guest' || !caller.scopes.includes('manage')) return false
  const skill = await db
    .selectFrom('skills')
    .select(['id', 'owner_id'])
    .where('id', '=', row.skill_id)
    .executeTakeFirstOrThrow()
  return hasRight(db, skill, caller, 'manage')
}

async function refuseTooManyUnconfirmed(trx: WriteTransaction, caseId: string): Promise<void> {
  const count = await countRows(trx.selectFrom('dmca_counter_notices').where('case_id', '=', caseId))
  if (count >= unconfirmedMax)
    throw new RegistryError(
      'conflict',
      'Too many counter-notices of this case are unconfirmed. Send yours with an API key of the owner.',
    )
}
