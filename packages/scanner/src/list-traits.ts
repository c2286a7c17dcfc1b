import { readTraits, type SearchTraits } from './match.ts'
import { probes } from './rule-table.ts'

/**
 * The traits of all patterns, in their order. Equal lists of texts are one, which is searched for once. Deriving them
 * takes most of the time of a first scan, so packages are built with the result in place of this module.
 */
export function listTraits(): readonly SearchTraits[] {
  const known = new Map<string, readonly string[]>()
  const share = (texts: readonly string[]) => {
    const key = texts.join('\n')
    const shared = known.get(key) ?? texts
    known.set(key, shared)
    return shared
  }
  return probes
    .flatMap(({ patterns }) => patterns.map(readTraits))
    .map(({ needs, ...rest }) => ({ ...rest, needs: needs.map((need) => ({ ...need, texts: share(need.texts) })) }))
}
