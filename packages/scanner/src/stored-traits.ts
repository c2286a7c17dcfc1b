import type { SearchTraits } from './match.ts'
import { pack, unpack } from './packed.ts'
import { crossings } from './pattern-parts.ts'

/** Traits with each text and each list of texts once. */
interface StoredTraits {
  readonly texts: readonly string[]
  readonly lists: readonly (readonly number[])[]
  readonly patterns: readonly [
    isRaw: 0 | 1,
    crosses: number,
    aheadMax: number,
    ...needs: (readonly [list: number, distances: readonly number[]])[],
  ][]
}

/** Writes traits, for {@link readStoredTraits}. */
export function storeTraits(traits: readonly SearchTraits[]): string {
  const indexOf = new Map<string, number>()
  const listOf = new Map<readonly string[], number>()
  const patterns = traits.map(({ view, crosses, aheadMax, needs }): StoredTraits['patterns'][number] => {
    const stored = needs.map(({ texts, distances }) => [number(listOf, texts), distances] as const)
    return [view === 'raw' ? 1 : 0, crossings.indexOf(crosses), aheadMax, ...stored]
  })
  const lists = [...listOf.keys()].map((texts) => texts.map((text) => number(indexOf, text)))
  return pack({ texts: [...indexOf.keys()], lists, patterns } satisfies StoredTraits)
}

/** The number of a thing, in order of their first occurrences. */
function number<T>(numbers: Map<T, number>, one: T): number {
  const known = numbers.get(one) ?? numbers.size
  numbers.set(one, known)
  return known
}

/** Reads what {@link storeTraits} wrote. */
export function readStoredTraits(stored: string): readonly SearchTraits[] {
  const { texts, lists, patterns } = unpack<StoredTraits>(stored)
  const textsOf = lists.map((list) => list.map((text) => texts[text]!))
  return patterns.map(([isRaw, crosses, aheadMax, ...needs]) => ({
    view: isRaw === 1 ? 'raw' : 'folded',
    crosses: crossings[crosses]!,
    aheadMax,
    needs: needs.map(([list, distances]) => ({ texts: textsOf[list]!, distances })),
  }))
}
