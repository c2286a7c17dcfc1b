import type { SearchTraits } from './match.ts'
import { crossings } from './pattern-parts.ts'

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
    needs: needs.map((numbers) =>
      Array.from({ length: numbers.length / 4 }, (_, i) => {
        const [text, before, behind, outside] = numbers.slice(4 * i, 4 * i + 4)
        return { text: texts[text!]!, before: before!, behind: behind!, outside: outside! }
      }),
    ),
  }))
}
