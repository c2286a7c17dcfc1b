import { RegistryError } from '@skillstead/protocol'
import type { Caller } from '../caller.ts'
import type { Context } from '../context.ts'
import { canSee } from '../skills/visibility.ts'
import type { SkillRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'

/**
 * The skill as it is within the transaction. It was found before, and may since be deleted, hidden, taken down or
 * closed to the caller, or have a new version or owner. Throws `not_found` and `taken_down`.
 */
export async function getReviewedSkill(
  context: Context,
  trx: WriteTransaction,
  skill: Pick<SkillRow, 'id'>,
  caller: Caller,
): Promise<SkillRow> {
  const now = await trx.selectFrom('skills').selectAll().where('id', '=', skill.id).executeTakeFirstOrThrow()
  const inside: Context = { ...context, database: { ...context.database, read: trx } }
  if (await canSee(inside, now, caller)) return now
  throw new RegistryError('not_found', `There is no skill '${now.full_name}' any more that you may see.`)
}
