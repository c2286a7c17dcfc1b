import type { SearchTraits } from './match.ts'
import { crossings, type Need } from './pattern-parts.ts'

/** Traits with each text once. A need has four numbers for each of its texts: its index and three distances. */
interface StoredTraits {
  readonly texts: readonly string[]
  readonly patterns: readonly [
    isRaw: 0 | 1,
    crosses: number,
    aheadMax: number,
    ...needs: readonly (readonly number[])[],
  ][]
}

/** Writes traits as JSON, about 30 bytes for each text of a need. */
export function storeTraits(traits: readonly SearchTraits[]): string {
  const indexOf = new Map<string, number>()
  const patterns = traits.map(({ view, crosses, aheadMax, needs }): StoredTraits['patterns'][number] => {
    const stored = needs.map((need) =>
      need.flatMap(({ text, before, behind, outside = 0 }) => {
        if (!indexOf.has(text)) indexOf.set(text, indexOf.size)
        return [indexOf.get(text)!, before, behind, outside]
      }),
    )
    return [view === 'raw' ? 1 : 0, crossings.indexOf(crosses), aheadMax, ...stored]
  })
  return JSON.stringify({ texts: [...indexOf.keys()], patterns } satisfies StoredTraits)
}

/** Reads what {@link storeTraits} wrote. */
export function readStoredTraits(json: string): readonly SearchTraits[] {
  const { texts, patterns } = JSON.parse(json) as StoredTraits
  return patterns.map(([isRaw, crosses, aheadMax, ...needs]) => ({
    view: isRaw === 1 ? 'raw' : 'folded',
    crosses: crossings[crosses]!,
    aheadMax,
    needs: needs.map((numbers) => readNeed(numbers, texts)),
  }))
}

function readNeed(numbers: readonly number[], texts: readonly string[]): Need {
  const need: Need[number][] = []
  for (let at = 0; at < numbers.length; at += 4) {
    need.push({
      text: texts[numbers[at]!]!,
      before: numbers[at + 1]!,
      behind: numbers[at + 2]!,
      outside: numbers[at + 3]!,
    })
  }
  return need
}
