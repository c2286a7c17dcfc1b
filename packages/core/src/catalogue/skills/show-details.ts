import { type SkillDetails } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import type { StorageContext } from '../../storage/storage-context.ts'
import type { Caller } from '../../kernel/caller.ts'
import { compileQuery, type Param } from '../../storage/compiled-query.ts'
import type { SkillDocumentRow, SkillRow, Tables } from '../../storage/tables.ts'
import { showName } from '../versions/shown-names.ts'
import { toSkillDetails } from '../versions/skill-document.ts'
import { toCurrentDocument } from './build-document.ts'
import { keepSeen } from '../../visibility/decisions.ts'
import { selectByAlias, selectByFullName } from './find-skill.ts'

/** The columns that the details add to the stored document. */
export type DetailedSkill = Pick<
  SkillRow,
  'id' | 'name' | 'full_name' | 'owner_id' | 'holds_name' | 'downloads' | 'stars' | 'forks' | 'dependents' | ForkColumn
>

type ForkColumn = 'forked_from' | 'forked_from_version'

/**
 * The complete public form of a skill for this caller. Pass `document` if the stored document does not match the row.
 */
export async function showDetails(
  context: StorageContext,
  skill: DetailedSkill,
  caller: Caller,
  document?: Pick<SkillDocumentRow, 'document'>,
): Promise<SkillDetails> {
  const stored = document ?? (await readSkillDocument(context.database.read, skill.id))
  const details = toSkillDetails(skill, stored, await findForkedFrom(context, skill, caller))
  return { ...details, name: await showName(context, skill, caller) }
}

const selectDocument = compileQuery((db, param: Param<{ skillId: string }>) =>
  db.selectFrom('skill_documents').selectAll().where('skill_id', '=', param('skillId')),
)

/** The stored document of a skill, in the current form. */
export async function readSkillDocument(db: Kysely<Tables>, skillId: string): Promise<SkillDocumentRow> {
  const [row] = await selectDocument(db, { skillId })
  if (!row) throw new TypeError(`The skill ${skillId} has no stored document. Run \`skillstead doctor\`.`)
  return { ...row, document: await toCurrentDocument(db, skillId, row.document) }
}

/** The source of a fork; null if the caller may not see the source. */
export async function findForkedFrom(context: StorageContext, skill: Pick<SkillRow, ForkColumn>, caller: Caller) {
  if (skill.forked_from === null) return null
  const source = await findForkSource(context.database.read, skill.forked_from)
  // A source under a takedown is left out, so that its fork stays readable.
  if (!source || (await keepSeen(context, [source], caller)).length === 0) return null
  return { fullName: skill.forked_from, version: skill.forked_from_version ?? '' }
}

/** The skill that a fork was made from, even if a transfer renamed it. */
export async function findForkSource(db: Kysely<Tables>, fullName: string): Promise<SkillRow | undefined> {
  const [named] = await selectByFullName(db, { fullName })
  const [moved] = named ? [] : await selectByAlias(db, { fullName })
  return named ?? moved
}
