import type { Omission } from '../schemas/loading.ts'
import type { Costs } from './costs.ts'
import { lengthOf, partNames, type Group, type Removable, type Unit } from './units.ts'

/** So many of the longest are counted, and listed by themselves at most. */
const rowsMax = 20

/**
 * What is not kept, within about so many tokens: the longest parts by themselves, in the order of keeping, the rest summed
 * in one row, about. One row is there whatever it takes.
 */
export function listOmissions(
  removable: Removable,
  kept: ReadonlySet<Unit>,
  { tokensMax, costs }: { tokensMax: number; costs: Costs },
): Omission[] {
  const all = gatherLeft(removable, kept)
  const longest = [...all.keys()].toSorted((a, b) => all[b]!.characters - all[a]!.characters).slice(0, rowsMax)
  const counted = new Map(
    longest.map((place) => [place, { section: all[place]!.section, tokens: costs.ofLeft(all[place]!) }]),
  )
  const sum = all.reduce(
    (tokens, left, place) => tokens + (counted.get(place)?.tokens ?? costs.about(left.characters)),
    0,
  )
  if (all.length < 2) return [...counted.values()]
  const listed = new Set<number>()
  let room = tokensMax - costs.ofJson(toOthers(sum))
  let others = sum
  for (const [place, row] of counted) {
    room -= costs.ofJson(row) + 1
    if (room < 0) break
    listed.add(place)
    others -= row.tokens
  }
  const rows = all.flatMap((_, place) => (listed.has(place) ? [counted.get(place)!] : []))
  return rows.length === all.length ? rows : [...rows, toOthers(others)]
}

/** What is left out, of a group or of what is in none. */
export interface Left {
  readonly section: string
  readonly characters: number
  readonly group?: Group
  /** What is not left out of the group. */
  readonly kept: readonly Unit[]
}

function gatherLeft({ groups, dropped }: Removable, keptUnits: ReadonlySet<Unit>): Left[] {
  const left: Left[] = dropped.map(({ section, text }) => ({ section, characters: text.length, kept: [] }))
  // Where frontmatter is left out as such, its text is not told as well.
  const isLost = groups.some(({ part, units }) => part === 'frontmatter' && units.some((unit) => !keptUnits.has(unit)))
  if (isLost && left[0]?.section === partNames.frontmatter) left.shift()
  for (const group of groups) {
    const kept = group.units.filter((unit) => keptUnits.has(unit))
    if (kept.length === group.units.length) continue
    const all = kept.length > 0 ? lengthOf(group) - group.heading.length : lengthOf(group)
    const characters = kept.reduce((sum, { text }) => sum - text.length, all)
    left.push({ section: group.section, characters, group, kept })
  }
  return left
}

function toOthers(tokens: number): Omission {
  return { section: partNames.others, tokens }
}
