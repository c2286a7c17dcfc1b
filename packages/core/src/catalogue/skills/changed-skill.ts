import { toVersionSortKey } from '@skillstead/protocol'
import { type LogHead, readLogHead } from '../../log/append-change.ts'
import { compileQuery, type Param, compileWrite } from '../../storage/compiled-query.ts'
import type { SkillRow } from '../../storage/tables.ts'
import type { WriteTransaction } from '../../storage/writer.ts'
import { sql } from 'kysely'
import { isPublished } from '../../visibility/decisions.ts'
import { publishedCondition } from '../../visibility/conditions.ts'

/** The rows that a refresh reads after the rows of a skill are written, in one round trip. */
export interface ChangedRows {
  readonly skill: SkillRow
  /** Whether the owner of the skill has a successful verification. */
  readonly isVerified: boolean
  /** Whether the skill holds its short name. */
  readonly isHolder: boolean
  /** The metadata of the version that describes the skill so far, as JSON; null before the first version. */
  readonly describing: string | null
  /** Whether requirements of the skill are stored, and whether a requirement of another skill has its name. */
  readonly hasRequirements: boolean
  readonly isNamed: boolean
  readonly head: LogHead
}

/** Claims the short name, if the skill may claim it, and reads the rows that a refresh starts from. */
export async function readChangedRows(
  trx: WriteTransaction,
  change: Parameters<typeof claimShortName>[1] & { readonly before: SkillRow | undefined },
): Promise<ChangedRows> {
  await claimShortName(trx, change)
  const number = change.before?.described_by
  const wanted = { id: change.skillId, describedBy: number ? toVersionSortKey(number) : '' }
  const [[row], head] = await Promise.all([selectChangedSkill(trx, wanted), readLogHead(trx)])
  if (!row) throw new TypeError('The skill has no row yet. Insert it before the skill is refreshed.')
  const { is_verified, holder_id, describing, has_requirements, is_named, ...skill } = row
  const requirements = { hasRequirements: Boolean(has_requirements), isNamed: Boolean(is_named) }
  return {
    skill,
    isVerified: Boolean(is_verified),
    isHolder: holder_id === skill.id,
    describing,
    ...requirements,
    head,
  }
}

const selectChangedSkill = compileQuery((db, param: Param<{ id: string; describedBy: string }>) =>
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
      eb
        .selectFrom('versions')
        .select('metadata')
        .whereRef('versions.skill_id', '=', 'skills.id')
        .where('versions.sort_key', '=', param('describedBy'))
        .as('describing'),
      eb
        .exists(
          eb.selectFrom('requirements').select('requirements.name').whereRef('requirements.skill_id', '=', 'skills.id'),
        )
        .as('has_requirements'),
      eb
        .exists(
          eb
            .selectFrom('requirements')
            .select('requirements.name')
            .whereRef('requirements.name', '=', 'skills.full_name'),
        )
        .as('is_named'),
    ])
    .where('skills.id', '=', param('id')),
)

/**
 * The first public skill with a short name holds the name permanently. Call this function after the rows of the skill
 * are written. `mayClaimName`: see `SkillChange`.
 */
async function claimShortName(
  trx: WriteTransaction,
  change: { readonly skillId: string; readonly before: SkillRow | undefined; readonly mayClaimName?: boolean },
): Promise<void> {
  const { skillId, before, mayClaimName } = change
  if (mayClaimName === false || (before && isPublished(before))) return
  await claimName(trx, { skillId, mayMirror: Number(mayClaimName === true) })
}

/** Checks in the statement, as `isPublished` does, that the current row is public and no stub. */
const claimName = compileWrite((db, param: Param<{ skillId: string; mayMirror: number }>) =>
  db
    .insertInto('holders')
    .columns(['name', 'skill_id'])
    .expression((eb) =>
      eb
        .selectFrom('skills')
        .select(['name', 'id'])
        .where('id', '=', param('skillId'))
        .where(publishedCondition)
        .where(sql<boolean>`(origin_kind <> 'mirror' or cast(${param('mayMirror')} as integer) = 1)`),
    )
    .onConflict((conflict) => conflict.column('name').doNothing()),
)
