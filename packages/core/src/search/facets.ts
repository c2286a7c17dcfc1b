import { type SearchFacets, searchFilters, skillClients } from '@skillstead/protocol'
import type { FilterRow } from './filters.ts'
import { toClientBit } from './loading-clients.ts'

/** Maximum values of a facet in an answer: the most frequent ones. */
const valuesMax = 15
/** The values that the filter `minSecurityScore` offers, without the empty value, which stands for no filter. */
const offeredScores = searchFilters.minSecurityScore.options.flatMap(([value]) => value || [])

/** Counts the filter values of the skills found by a search, in lower case, because filters compare lower case. */
export function countFacets(rows: Iterable<FilterRow>): SearchFacets {
  const category = new Map<string, number>()
  const license = new Map<string, number>()
  const owner = new Map<string, number>()
  const keyword = new Map<string, number>()
  const clients = skillClients.map(({ id }) => ({ value: id, bit: toClientBit(id), count: 0 }))
  const scores = offeredScores.map((value) => ({ value, least: Number(value), count: 0 }))
  for (const row of rows) {
    add(category, row.category)
    add(license, row.license)
    add(owner, row.owner)
    for (const client of clients) if ((row.loadedBy & client.bit) !== 0) client.count++
    for (const word of row.keywords) add(keyword, word)
    for (const step of scores) if (row.securityScore !== null && row.securityScore >= step.least) step.count++
  }
  return {
    category: toValues(category),
    license: toValues(license),
    owner: toValues(owner),
    keyword: toValues(keyword),
    minSecurityScore: scores.map(({ value, count }) => ({ value, count })),
    client: clients.map(({ value, count }) => ({ value, count })),
  }
}

function add(counts: Map<string, number>, value: string): void {
  if (value !== '') counts.set(value, (counts.get(value) ?? 0) + 1)
}

function toValues(counts: ReadonlyMap<string, number>): SearchFacets['category'] {
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .toSorted((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
    .slice(0, valuesMax)
}
