import { keepCompiled } from '../storage/compiled-query.ts'
import type { SkillRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { isPublicMatter } from './skill-log.ts'

/** The first public skill of a short name holds it for ever. Tells whether this skill is the holder. */
export async function claimShortName(
  trx: WriteTransaction,
  before: SkillRow | undefined,
  skill: SkillRow,
  mayHold: boolean,
): Promise<boolean> {
  if (mayHold && isPublicMatter(skill) && !(before && isPublicMatter(before))) {
    await claimName(trx, skill.name, skill.id)
  }
  const [holder] = await selectHolder(trx, skill.name)
  return holder?.skill_id === skill.id
}

const claimName = keepCompiled((db) =>
  db
    .insertInto('holders')
    .values({ name: '', skill_id: '' })
    .onConflict((conflict) => conflict.column('name').doNothing()),
)
const selectHolder = keepCompiled((db) => db.selectFrom('holders').select('skill_id').where('name', '=', ''))
