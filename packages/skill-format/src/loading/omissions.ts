import type { Omission } from '@skillstead/protocol'
import type { Costs } from './costs.ts'
import { toGroupLength, partNames, type Left, type Removable, type Unit } from './units.ts'

/** Number of longest omissions that are counted and listed individually. */
const rowsMax = 20

/** Lists the omitted parts: the longest in order of priority, the others as an estimated sum in one row. */
export function listOmissions(removable: Removable, kept: ReadonlySet<Unit>, costs: Costs): Omission[] {
  const all = gatherLeft(removable, kept)
  const longest = new Set(all.toSorted((a, b) => b.characters - a.characters).slice(0, rowsMax))
  const rows = all.filter((left) => longest.has(left)).map((left) => toOmission(left, costs))
  if (rows.length === all.length) return rows
  const others = all.filter((left) => !longest.has(left))
  const tokens = others.reduce((sum, { characters }) => sum + costs.about(characters), 0)
  return [...rows, { section: partNames.others, tokens }]
}

function toOmission(left: Left, costs: Costs): Omission {
  return { section: left.section, tokens: costs.ofLeft(left) }
}

function gatherLeft({ groups, dropped }: Removable, keptUnits: ReadonlySet<Unit>): Left[] {
  const left: Left[] = dropped.map(({ section, text }) => ({ section, characters: text.length, kept: [] }))
  for (const group of groups) {
    const kept = group.units.filter((unit) => keptUnits.has(unit))
    if (kept.length === group.units.length) continue
    const all = kept.length > 0 ? toGroupLength(group) - group.heading.length : toGroupLength(group)
    const characters = kept.reduce((sum, { text }) => sum - text.length, all)
    left.push({ section: group.section, characters, group, kept })
  }
  return left
}
