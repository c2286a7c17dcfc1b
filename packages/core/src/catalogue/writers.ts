import { RegistryError } from '@skillstead/protocol'
import type { UserCaller } from '../kernel/caller.ts'
import type { SkillRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { canWrite, requireOwner } from './visibility.ts'

/**
 * The skill that a user publishes to, checked again within the transaction, since a role, the skill or its name may
 * have changed. Only its owner may change its visibility. Throws `not_found` and `forbidden`.
 */
export async function requireWriter(
  trx: WriteTransaction,
  fullName: string,
  visibility: SkillRow['visibility'] | undefined,
  user: UserCaller,
): Promise<SkillRow> {
  const skill = await trx.selectFrom('skills').selectAll().where('full_name', '=', fullName).executeTakeFirst()
  if (!skill || skill.state === 'withdrawn')
    throw new RegistryError('not_found', `There is no skill '${fullName}' any more.`)
  const isVisibilityChange = visibility !== undefined && visibility !== skill.visibility
  if (isVisibilityChange || !(await canWrite(trx, skill, user))) requireOwner(skill, user)
  return skill
}
