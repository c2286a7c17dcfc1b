import type { StorageContext } from '../../storage/storage-context.ts'
import type { Caller } from '../../kernel/caller.ts'
import { compileListQuery } from '../../storage/list-query.ts'
import type { Param } from '../../storage/compiled-query.ts'
import type { SkillRow } from '../../storage/tables.ts'
import { type ItemRow, toPublicName, toSkillItem } from './skill-document.ts'

type Named = Pick<SkillRow, 'name' | 'full_name' | 'owner_id' | 'holds_name'>

/** Skills as list items, in the order of their rows, with names that resolve for this caller. */
export async function toNamedItems(context: StorageContext, rows: readonly ItemRow[], caller: Caller) {
  const own = await findOwnNames(context, rows, caller)
  return rows.map((row) => ({ ...toSkillItem(row), name: toNameAmong(row, own) }))
}

/** The name by which this caller can address a skill. */
export async function showName(context: StorageContext, skill: Named, caller: Caller): Promise<string> {
  return toNameAmong(skill, await findOwnNames(context, [skill], caller))
}

function toNameAmong(skill: Named, own: ReadonlySet<string>): string {
  return own.has(skill.full_name) ? skill.full_name : toPublicName(skill)
}

/** The full names of skills whose short name, for this caller, means one of the caller's own skills. */
async function findOwnNames(context: StorageContext, skills: readonly Named[], caller: Caller) {
  if (caller.kind !== 'user') return noOwnNames
  const holding = skills.filter(({ holds_name, owner_id }) => holds_name === 1 && owner_id !== caller.userId)
  if (holding.length === 0) return noOwnNames
  const names = holding.map(({ name }) => `${caller.username}/${name}`)
  const rows = await selectOwnNames(context.database, { names })
  const own = new Set(rows.map(({ name }) => name))
  return new Set(holding.filter(({ name }) => own.has(name)).map(({ full_name }) => full_name))
}

const selectOwnNames = compileListQuery((db, param: Param<{ names: Iterable<string> }>, lists) =>
  db
    .selectFrom('skills')
    .select('name')
    .where(lists.has('full_name', param('names')))
    .where('state', '!=', 'withdrawn'),
)

const noOwnNames: ReadonlySet<string> = new Set()
