import { type LogHead, readLogHead } from '../../log/append-change.ts'
import { compileQuery, type Param } from '../../storage/compiled-query.ts'
import type { SkillRow } from '../../storage/tables.ts'
import type { WriteTransaction } from '../../storage/writer.ts'
import { claimShortName } from './short-name.ts'

/** The rows that a refresh reads after the rows of a skill are written, in one round trip. */
export interface ChangedRows {
  readonly skill: SkillRow
  /** Whether the owner of the skill has a successful verification. */
  readonly isVerified: boolean
  /** Whether the skill holds its short name. */
  readonly isHolder: boolean
  readonly head: LogHead
}

/** Claims the short name, if the skill may claim it, and reads the rows that a refresh starts from. */
export async function readChangedRows(
  trx: WriteTransaction,
  change: Parameters<typeof claimShortName>[1],
): Promise<ChangedRows> {
  await claimShortName(trx, change)
  const [[row], head] = await Promise.all([selectChangedSkill(trx, { id: change.skillId }), readLogHead(trx)])
  if (!row) throw new TypeError('Insert the row of a skill before you refresh it.')
  const { is_verified, holder_id, ...skill } = row
  return { skill, isVerified: Boolean(is_verified), isHolder: holder_id === skill.id, head }
}

const selectChangedSkill = compileQuery((db, param: Param<{ id: string }>) =>
  db
    .selectFrom('skills')
    .selectAll('skills')
    .select((eb) => [
      eb
        .exists(
          eb
            .selectFrom('verifications')
            .select('verifications.id')
            .whereRef('user_id', '=', 'skills.owner_id')
            .where('status', '=', 'verified'),
        )
        .as('is_verified'),
      eb.selectFrom('holders').select('skill_id').whereRef('holders.name', '=', 'skills.name').as('holder_id'),
    ])
    .where('skills.id', '=', param('id')),
)
