import { compileQuery, compileWrite } from '../storage/compiled-query.ts'
import type { SkillRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { isPublicMatter } from './skill-log.ts'

/** The first public skill with a short name holds it permanently. Returns whether this skill holds it. */
export async function claimShortName(
  trx: WriteTransaction,
  before: SkillRow | undefined,
  skill: SkillRow,
  mayClaimName: boolean,
): Promise<boolean> {
  if (mayClaimName && isPublicMatter(skill) && !(before && isPublicMatter(before))) {
    await claimName(trx, { name: skill.name, skillId: skill.id })
  }
  const [holder] = await selectHolder(trx, { name: skill.name })
  return holder?.skill_id === skill.id
}

const claimName = compileWrite((db, claim: { name: string; skillId: string }) =>
  db
    .insertInto('holders')
    .values({ name: claim.name, skill_id: claim.skillId })
    .onConflict((conflict) => conflict.column('name').doNothing()),
)
const selectHolder = compileQuery((db, { name }: { name: string }) =>
  db.selectFrom('holders').select('skill_id').where('name', '=', name),
)
