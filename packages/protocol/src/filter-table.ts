import { skillClients } from './skill-clients.ts'

/** A filter of the search, for the API and the dashboard. */
interface SearchFilter {
  /** The type of the value. `included`: a flag that adds skills which a search leaves out by default. */
  readonly kind: 'text' | 'flag' | 'included' | 'percentage' | 'client'
  /** The label of the filter's control in the dashboard. */
  readonly label: string
  /** The text for the active filter: one text with `{}` for the value, or a text for each value. */
  readonly chip: string | Readonly<Record<string, string>>
  /** The values to choose from, with their labels; '' for no filter. Absent: a text field, or a checkbox. */
  readonly options?: readonly (readonly [value: string, text: string])[]
  /** The position of the filter's control in the form, from 1. */
  readonly place: number
}

/**
 * The filters of the search, in the order in which the API documents and returns them. From this table come the
 * parameters of the API and the dashboard's form; `search/filters.ts` of the core has the index column and the SQL
 * condition of each filter.
 */
export const searchFilters = {
  includeStubs: {
    kind: 'included',
    label: 'Include skills without content',
    chip: { true: 'Including skills without content' },
    place: 5,
  },
  category: { kind: 'text', label: 'Category', chip: 'Category: {}', place: 1 },
  license: { kind: 'text', label: 'Licence', chip: 'Licence: {}', place: 7 },
  owner: { kind: 'text', label: 'Owner', chip: 'Owner: {}', place: 9 },
  verified: { kind: 'flag', label: 'Verified only', chip: { true: 'Verified' }, place: 4 },
  deprecated: {
    kind: 'flag',
    label: 'Deprecated',
    chip: { true: 'Deprecated only', false: 'Without deprecated' },
    options: [
      ['', 'Shown'],
      ['false', 'Hidden'],
      ['true', 'Only these'],
    ],
    place: 6,
  },
  keyword: { kind: 'text', label: 'Keyword', chip: 'Keyword: {}', place: 8 },
  minSecurityScore: {
    kind: 'percentage',
    label: 'Security score',
    chip: 'Security {} or more',
    options: [
      ['', 'Any'],
      ['50', '50 or more'],
      ['80', '80 or more'],
      ['95', '95 or more'],
    ],
    place: 2,
  },
  client: {
    kind: 'client',
    label: 'Works in',
    chip: Object.fromEntries(skillClients.map(({ id, title }) => [id, `Works in ${title}`])),
    options: [['', 'Any agent'], ...skillClients.map(({ id, title }) => [id, title] as const)],
    place: 3,
  },
} as const satisfies Record<string, SearchFilter>

/** The name of a filter of the search. */
export type SearchFilterName = keyof typeof searchFilters

/** The filters as a list, in the order of their controls in the dashboard. */
export const searchControls: readonly (SearchFilter & { readonly name: string })[] = Object.entries<SearchFilter>(
  searchFilters,
)
  .map(([name, filter]) => ({ name, ...filter }))
  .toSorted((a, b) => a.place - b.place)
