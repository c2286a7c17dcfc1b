import { readTraits, type SearchTraits } from './match.ts'
import { probes } from './rule-table.ts'

/**
 * The traits of all patterns, in their order. Deriving them takes most of the time of a first scan, so packages are
 * built with the result in place of this module.
 */
export function listTraits(): readonly SearchTraits[] {
  return probes.flatMap(({ patterns }) => patterns.map(readTraits))
}
