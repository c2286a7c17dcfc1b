import { RegistryError, type DmcaCase, type DmcaNotice } from '@skillstead/protocol'
import type { Caller } from '../kernel/caller.ts'
import type { CallOptions } from '../kernel/call-options.ts'
import type { GovernanceContext } from './governance-context.ts'
import { newId } from '../kernel/ids.ts'
import { getMovedSkill } from '../catalogue/find-skill.ts'
import { TakenDown } from '../catalogue/visibility.ts'
import type { DmcaCaseRow } from '../storage/tables.ts'
import { createToken } from '../kernel/tokens.ts'
import { toFullCase } from './case-form.ts'
import { recordStep } from './move-case.ts'

/** POST /dmca: a claim about a skill that the caller may see. The case token is shown only in this response. */
export async function submitDmca(
  context: GovernanceContext,
  input: { skillName: string } & DmcaNotice,
  caller: Caller,
  options: CallOptions = {},
): Promise<DmcaCase & { caseToken: string }> {
  const { skillName, ...notice } = input
  const skillId = await findClaimed(context, skillName, caller)
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
async function findClaimed(context: GovernanceContext, ref: string, caller: Caller): Promise<string> {
  try {
    return (await getMovedSkill(context, ref, caller)).id
  } catch (error) {
    if (error instanceof TakenDown) return error.skillId
    throw error
  }
}
