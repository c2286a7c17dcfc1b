import type { api } from '../../api.ts'
import { toPageNumber } from '../../ui/page.tsx'

type Wanted = NonNullable<Parameters<typeof api.searchSkills>[0]>

interface Filter {
  /** The valid values; others are ignored. */
  readonly accepts: RegExp
  /** The filter as text, for its chip. */
  readonly say: (value: string) => string
}

const anyText = /^[^\0]{1,200}$/su

/** The filters by their field names in the API and in the address. */
const filters: Readonly<Record<string, Filter>> = {
  category: { accepts: anyText, say: (value) => `Category: ${value}` },
  keyword: { accepts: anyText, say: (value) => `Keyword: ${value}` },
  owner: { accepts: anyText, say: (value) => `Owner: ${value}` },
  license: { accepts: anyText, say: (value) => `Licence: ${value}` },
  minSecurityScore: { accepts: /^(?:\d{1,2}|100)$/, say: (value) => `Security ${value} or more` },
  verified: { accepts: /^true$/, say: () => 'Verified' },
  includeStubs: { accepts: /^true$/, say: () => 'Including skills without content' },
  deprecated: {
    accepts: /^(?:true|false)$/,
    say: (value) => (value === 'true' ? 'Deprecated only' : 'Without deprecated'),
  },
}

export const sorts = [
  ['downloads', 'Most downloads'],
  ['recent', 'Newest'],
  ['stars', 'Most stars'],
] as const

/** An active filter. */
export interface Chip {
  readonly name: string
  readonly text: string
}

/**
 * The search parameters of an address. Invalid fields are ignored, so that a typo shows more skills instead of an
 * error.
 */
export function toSearch(fields: Readonly<Record<string, string>>) {
  const names = Object.keys(filters).filter((name) => filters[name]!.accepts.test(fields[name] ?? ''))
  const given = Object.fromEntries(names.map((name) => [name, fields[name]!]))
  const wanted: Wanted = {
    ...given,
    q: (fields.q ?? '').slice(0, 1000).toWellFormed(),
    page: toPageNumber(fields.page),
    sort: sorts.find(([sort]) => sort === fields.sort)?.[0],
  }
  const chips: Chip[] = names.map((name) => ({ name, text: filters[name]!.say(fields[name]!) }))
  return { wanted, given, chips }
}

/** Removes all filters from an address. */
export const withoutFilters: Readonly<Record<string, undefined>> = Object.fromEntries(
  ['page', ...Object.keys(filters)].map((name) => [name, undefined]),
)
