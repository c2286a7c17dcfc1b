import { RegistryError, type DmcaCase, type DmcaCounterNotice } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import type { Caller } from '../kernel/caller.ts'
import type { CallOptions } from '../kernel/call-options.ts'
import type { GovernanceContext } from './governance-context.ts'
import { newId } from '../kernel/ids.ts'
import { isOwner } from '../catalogue/visibility.ts'
import type { DmcaCaseRow, Tables } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { toPublicCase } from './case-form.ts'
import { getCase } from './find-case.ts'
import { moveCase } from './move-case.ts'
import { requireTransition } from './case-transitions.ts'

/** The maximum number of unconfirmed counter-notices of a case. */
const unconfirmedMax = 20

/**
 * POST /dmca/<id>/counter-notice. With a key of the skill's owner and the scope `manage`, it moves the case. Without
 * one, it is stored next to others until an administrator confirms the sender, so that no one can impersonate the owner
 * or block the owner's notice by being first. Throws `invalid_transition` unless the case is `removed`.
 */
export async function submitCounterNotice(
  context: GovernanceContext,
  input: { id: string } & DmcaCounterNotice,
  caller: Caller,
  options: CallOptions = {},
): Promise<DmcaCase> {
  const { id, ...notice } = input
  const known = await getCase(context.database.read, id)
  requireTransition(known.status, 'counter_noticed', 'owner')
  if (!(await isFromOwner(context.database.read, known, caller)))
    await context.addressLimits.require('takedown', options.address, id)
  const row = await context.database.writer.write(async (trx) => {
    const before = await getCase(trx, id)
    requireTransition(before.status, 'counter_noticed', 'owner')
    const confirmed = await isFromOwner(trx, before, caller)
    if (!confirmed) await refuseTooMany(trx, id)
    const answer = { id: newId(), case_id: id, notice: JSON.stringify(notice), sent_at: context.clock.now() }
    await trx
      .insertInto('dmca_counter_notices')
      .values({ ...answer, confirmed: 0 })
      .execute()
    return confirmed ? acceptCounterNotice(context, trx, before, { id: answer.id, by: 'owner', caller }) : before
  })
  return toPublicCase(context.database.read, row)
}

/** Accepts a counter-notice as the owner's and moves the case. Deletes the others, which were sent by other people. */
export async function acceptCounterNotice(
  context: GovernanceContext,
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
    .select('owner_id')
    .where('id', '=', row.skill_id)
    .executeTakeFirstOrThrow()
  return isOwner(skill, caller)
}

async function refuseTooMany(trx: WriteTransaction, caseId: string): Promise<void> {
  const { count } = await trx
    .selectFrom('dmca_counter_notices')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('case_id', '=', caseId)
    .executeTakeFirstOrThrow()
  if (count >= unconfirmedMax)
    throw new RegistryError(
      'conflict',
      'Too many counter-notices of this case are unconfirmed. Send yours with an API key of the owner.',
    )
}
