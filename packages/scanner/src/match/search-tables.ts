import type { SearchTraits } from './match.ts'
import { crossings } from './pattern-parts.ts'
import { countUp, joinLists, toSetTables, type SetTables } from './text-positions.ts'

/** The traits of all patterns as lists of numbers, which a process reads at once. */
export interface SearchTables extends SetTables {
  /** Where the patterns of each probe begin. */
  readonly patternsFrom: Uint16Array
  /** `view` and `crosses` of each pattern, as two digits. */
  readonly kinds: Uint16Array
  readonly aheads: Uint16Array
  /** Where the needs of each pattern begin. */
  readonly needsFrom: Uint16Array
  /** The set of each need, and where its texts begin, of each of which there are three distances. */
  readonly needs: Uint16Array
  readonly distancesFrom: Uint16Array
  readonly distances: Uint16Array
}

/** The tables of the traits of all patterns of each probe. */
export function toTables(traitsOfProbes: readonly (readonly SearchTraits[])[]): SearchTables {
  const traits = traitsOfProbes.flat()
  const numbers = new Map<string, number>()
  const sets: (readonly string[])[] = []
  const toSet = (texts: readonly string[]) => {
    const key = texts.join('\n')
    const known = numbers.get(key)
    if (known !== undefined) return known
    numbers.set(key, sets.length)
    return sets.push(texts) - 1
  }
  const { all, from } = joinLists(traits.map(({ needs }) => needs.map(({ texts }) => toSet(texts))))
  const needs = traits.flatMap((each) => each.needs)
  return {
    ...toSetTables(sets),
    patternsFrom: countUp(traitsOfProbes),
    kinds: Uint16Array.from(traits, ({ view, crosses }) => Number(view === 'raw') + 2 * crossings.indexOf(crosses)),
    aheads: Uint16Array.from(traits, ({ aheadMax }) => aheadMax),
    needs: all,
    needsFrom: from,
    distances: Uint16Array.from(needs.flatMap(({ distances }) => distances)),
    distancesFrom: countUp(needs.map(({ texts }) => texts)),
  }
}

/** The need of a number in tables. */
export function readNeed({ needs, distances, distancesFrom }: SearchTables, need: number) {
  return {
    set: needs[need]!,
    distances: [...distances.subarray(3 * distancesFrom[need]!, 3 * distancesFrom[need + 1]!)],
  }
}

/** The traits of a pattern in tables, without its needs. */
export function readKind({ kinds, aheads }: SearchTables, pattern: number): Omit<SearchTraits, 'needs'> {
  const kind = kinds[pattern]!
  return { view: kind % 2 === 1 ? 'raw' : 'folded', crosses: crossings[kind >> 1]!, aheadMax: aheads[pattern]! }
}

/** The numbers of the needs of a pattern in tables. */
export function listNeeds({ needsFrom }: SearchTables, pattern: number): number[] {
  const from = needsFrom[pattern]!
  return Array.from({ length: needsFrom[pattern + 1]! - from }, (_, index) => from + index)
}

/** The traits of which {@link toTables} made tables. */
export function toTraits(tables: SearchTables): SearchTraits[][] {
  const { lengths, units, texts, textsFrom, patternsFrom } = tables
  let at = 0
  const textOf = Array.from(lengths, (length) => String.fromCharCode(...units.subarray(at, (at += length))))
  const toNeed = (need: number) => {
    const { set, distances } = readNeed(tables, need)
    const numbers = texts.subarray(textsFrom[set], textsFrom[set + 1])
    return { texts: Array.from(numbers, (text) => textOf[text]!), distances }
  }
  const toTraitsOf = (pattern: number) => ({
    ...readKind(tables, pattern),
    needs: listNeeds(tables, pattern).map(toNeed),
  })
  return Array.from(patternsFrom.subarray(1), (to, probe) => {
    const from = patternsFrom[probe]!
    return Array.from({ length: to - from }, (_, index) => toTraitsOf(from + index))
  })
}
