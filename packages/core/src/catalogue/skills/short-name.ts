import { sql } from 'kysely'
import { compileWrite, type Param } from '../../storage/compiled-query.ts'
import type { SkillRow } from '../../storage/tables.ts'
import type { WriteTransaction } from '../../storage/writer.ts'
import { isPublished } from '../../visibility/decisions.ts'
import { publishedCondition } from '../../visibility/conditions.ts'

/**
 * The first public skill with a short name holds the name permanently. Call this function after the rows of the skill
 * are written. `mayClaimName`: see `SkillChange`.
 */
export async function claimShortName(
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
