import { searchControls } from '@skillstead/protocol'
import type { api } from '../../api.ts'
import { toPageNumber } from '../../ui/page.tsx'

type Wanted = NonNullable<Parameters<typeof api.searchSkills>[0]>

const anyText = /^[^\0]{1,200}$/su
const percentage = /^(?:\d{1,2}|100)$/

/** The active filter as text, for its chip; undefined for an invalid value. */
function toChipText({ kind, chip }: (typeof searchControls)[number], value: string): string | undefined {
  if (typeof chip !== 'string') return Object.hasOwn(chip, value) ? chip[value] : undefined
  return (kind === 'percentage' ? percentage : anyText).test(value) ? chip.replace('{}', () => value) : undefined
}

export const sorts = [
  ['downloads', 'Most downloads'],
  ['recent', 'Newest'],
  ['stars', 'Most stars'],
  ['effect', 'Largest measured effect'],
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
  const chips: Chip[] = searchControls.flatMap((filter) => {
    const text = toChipText(filter, fields[filter.name] ?? '')
    return text === undefined ? [] : [{ name: filter.name, text }]
  })
  const given = Object.fromEntries(chips.map(({ name }) => [name, fields[name]!]))
  const wanted: Wanted = {
    ...given,
    q: (fields.q ?? '').slice(0, 1000).toWellFormed(),
    page: toPageNumber(fields.page),
    sort: sorts.find(([sort]) => sort === fields.sort)?.[0],
  }
  return { wanted, given, chips }
}

const filterNames = ['page', ...searchControls.map(({ name }) => name)]

/** The fields of an address that make it a search; other fields, such as `utm_source`, have no effect. */
export const searchFields: readonly string[] = ['q', 'sort', ...filterNames]

/** Fields that remove all filters, and the page number, from an address. */
export const withoutFilters: Readonly<Record<string, undefined>> = Object.fromEntries(
  filterNames.map((name) => [name, undefined]),
)
