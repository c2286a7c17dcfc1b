import { matchesPattern, toShortName } from '@skillstead/protocol'
import type { Filters } from './types.ts'

/** The properties of a skill that filters check. An undefined property is unknown, and does not pass a filter on it. */
export interface Filtered {
  readonly owner: string
  readonly name: string
  readonly keywords?: readonly string[]
  readonly category?: string
  readonly license?: string
  readonly size?: number
}

/**
 * Explains in a sentence why a skill does not pass the filters; undefined if it passes. `verified` and
 * `minSecurityScore` are not checked here: they are unknown until the upstream was asked or the files were scanned.
 */
export function explainFiltered(filters: Filters, skill: Filtered): string | undefined {
  const { owners, names, keywords, categories, licenses, sizeMax } = filters
  const fullName = `${skill.owner}/${skill.name}`
  if (owners && !owners.some((pattern) => matchesPattern(pattern, skill.owner)))
    return `The owner ${skill.owner} is excluded by the filters.`
  if (names && !names.some((pattern) => isNameMatch(pattern, fullName)))
    return `The name ${fullName} is excluded by the filters.`
  if (keywords && !hasOne(keywords, skill.keywords ?? [])) return 'The filters require another keyword.'
  if (categories && !hasOne(categories, [skill.category ?? '']))
    return `The category '${skill.category}' is excluded by the filters.`
  if (licenses && !hasOne(licenses, [skill.license ?? '']))
    return `The licence '${skill.license}' is excluded by the filters.`
  if (sizeMax !== undefined && (skill.size ?? Infinity) > sizeMax) return `It is larger than ${sizeMax} bytes.`
  return undefined
}

/** Whether any filter is set. */
export function hasFilters(filters: Filters): boolean {
  return Object.values(filters).some((value) => value !== undefined)
}

/** Whether a full or short name matches a pattern. A pattern without a slash matches short names of any owner. */
export function isNameMatch(pattern: string, name: string): boolean {
  const short = toShortName(name)
  return pattern.includes('/') ? matchesPattern(pattern, name) : matchesPattern(pattern, short)
}

function hasOne(wanted: readonly string[], values: readonly string[]): boolean {
  const lower = new Set(values.map((value) => value.toLowerCase()))
  return wanted.some((value) => lower.has(value.toLowerCase()))
}
