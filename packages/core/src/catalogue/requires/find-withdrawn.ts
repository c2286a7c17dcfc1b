import { limits } from '@skillstead/protocol'
import { parseVersionRange } from '@skillstead/skill-format'
import type { Caller } from '../../kernel/caller.ts'
import type { Param } from '../../storage/compiled-query.ts'
import { compileListQuery } from '../../storage/list-query.ts'
import type { StorageContext } from '../../storage/storage-context.ts'
import { lookUpWanted, toWantedKey } from './look-up.ts'

/**
 * By skill id, the first required skill of which no version in the range is offered. Skills that the caller may not see
 * are left out, and so are all of them beyond the number that a resolution may have.
 */
export async function findWithdrawn(context: StorageContext, skillIds: readonly string[], caller: Caller) {
  const found = new Map<string, { readonly fullName: string; readonly range: string }>()
  const rows = skillIds.length > 0 ? await selectRequired(context.database, { ids: skillIds }) : []
  if (rows.length === 0) return found
  const wanted = new Map(rows.map((row) => [toWantedKey(row), { name: row.name, owner: row.owner }]))
  const meant = await lookUpWanted(context, [...wanted.values()].slice(0, limits.resolveSkillsMax), caller)
  for (const row of rows) {
    const { skill, heldSince = 0 } = meant.get(toWantedKey(row)) ?? {}
    const range = parseVersionRange(row.range)
    if (!skill || !range || heldSince > row.published_at || found.has(row.skill_id)) continue
    if (skill.versions.some(({ version, isOffered }) => isOffered && range.includes(version))) continue
    found.set(row.skill_id, { fullName: skill.fullName, range: range.text })
  }
  return found
}

const selectRequired = compileListQuery((db, param: Param<{ ids: Iterable<string> }>, lists) =>
  db
    .selectFrom('requirements')
    .innerJoin('skills', 'skills.id', 'requirements.skill_id')
    .select(['requirements.skill_id', 'requirements.name', 'requirements.range', 'skills.owner', 'skills.published_at'])
    .where(lists.has('requirements.skill_id', param('ids')))
    .orderBy('requirements.name')
    .limit(limits.resolveSkillsMax * 10),
)
