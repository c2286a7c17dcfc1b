import { listTraits, type PatternTraits } from '../match/traits.ts'
import { facts, rules } from './rule-table.ts'

/**
 * The traits of all patterns. Reading their expressions takes most of the time of a first scan, so packages are built
 * with the result in place of this module.
 */
export function listBuiltInTraits(): readonly (readonly PatternTraits[])[] {
  return listTraits([...rules, ...facts])
}
