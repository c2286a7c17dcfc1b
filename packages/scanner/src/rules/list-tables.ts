import { readTraits } from '../match/match.ts'
import { probes } from './rule-table.ts'
import { toTables, type SearchTables } from '../match/search-tables.ts'

/**
 * The tables of all patterns. Deriving them takes most of the time of a first scan, so packages are built
 * with the result in place of this module.
 */
export function listTables(): SearchTables {
  return toTables(probes.map(({ patterns }) => patterns.map(readTraits)))
}
