import { entriesOf, keysOf, type SearchFilterName, type SearchFilters } from '@skillstead/protocol'
import { type Expression, expressionBuilder, sql, type SqlBool } from 'kysely'
import type { Database } from '../storage/database.ts'
import { parseJson, type SkillRow, type Tables, type VersionMetadata } from '../storage/tables.ts'
import { toClientBit, toLoadedBy } from './loading-clients.ts'

/** The columns of `skills` from which {@link toFilterValues} makes what the filters compare. */
export const filterColumns = [
  ...(['name', 'owner', 'category', 'license', 'keywords', 'stub', 'verified', 'deprecated'] as const),
  ...(['security_score', 'loaded_by'] as const),
] as const

/** What the filters compare. */
export interface FilterValues {
  owner: string
  category: string
  license: string
  keywords: string[]
  stub: boolean
  verified: boolean
  deprecated: boolean
  /** 0 to 100; null before the first scan. */
  securityScore: number | null
  /** The clients that load the skill, from `toLoadedBy`. */
  loadedBy: number
}

/** The row has the metadata of the latest version where `loaded_by` is missing. */
export function toFilterValues(
  row: Pick<SkillRow, (typeof filterColumns)[number]> & { readonly metadata: string | null },
): FilterValues {
  const { owner, category, license, metadata } = row
  return {
    owner,
    category,
    license,
    keywords: parseJson(row.keywords),
    stub: row.stub === 1,
    verified: row.verified === 1,
    deprecated: row.deprecated === 1,
    securityScore: row.security_score,
    loadedBy:
      row.loaded_by ?? (metadata === null ? 0 : toLoadedBy(parseJson<VersionMetadata>(metadata).frontmatter, row.name)),
  }
}

/** The flags of a skill that the index stores for the filters, as bits next to `audienceBits`. */
export const flagBits = { stub: 4, verified: 8, deprecated: 16 } as const
type Flag = keyof typeof flagBits
/** The properties, other than flags, that the index stores for the filters. The texts are lower case. */
export type FilterRow = Omit<FilterValues, Flag>

type RowTest = (row: FilterRow) => boolean
type Condition = Expression<SqlBool> | undefined

/**
 * How a filter works in the index and in the database. `wanted` is undefined if the search does not use the filter; a
 * function returns undefined if the filter restricts nothing.
 */
interface FilterRule<Wanted> {
  /** The flag that a skill must have, or must not have. */
  flag?(wanted: Wanted): { readonly flag: Flag; readonly isSet: boolean } | undefined
  test?(wanted: Wanted): RowTest | undefined
  /** The condition on a row of `skills`. */
  condition(wanted: Wanted, database: Pick<Database, 'read'>): Condition | Promise<Condition>
}

const eb = expressionBuilder<Tables, 'skills'>()

/** The rules of the filters in the protocol's `searchFilters`. */
const filterRules: { readonly [Name in SearchFilterName]: FilterRule<SearchFilters[Name]> } = {
  includeStubs: flagRule('stub', (isIncluded) => (isIncluded ? undefined : false)),
  category: textRule('category', (wanted, { read }) => isSpelling('category', wanted, read)),
  license: textRule('license', (wanted, { read }) => isSpelling('license', wanted, read)),
  // Usernames are ASCII, which databases and JavaScript lower-case alike. The subquery reads users, because there are
  // fewer users than skills.
  owner: textRule('owner', (wanted) => sql`owner_id in (select id from users where lower(username) = ${wanted})`),
  verified: flagRule('verified', (wanted) => wanted),
  deprecated: flagRule('deprecated', (wanted) => wanted),
  keyword: {
    test(wanted) {
      const folded = wanted?.toLowerCase()
      return folded === undefined ? undefined : ({ keywords }) => keywords.includes(folded)
    },
    condition(wanted) {
      if (wanted === undefined) return undefined
      // The column is JSON text: search for the keyword with its quotes.
      const quoted = JSON.stringify(wanted.toLowerCase())
      return sql`replace(lower(keywords), ${quoted}, '') <> lower(keywords)`
    },
  },
  minSecurityScore: {
    test: (least) =>
      least === undefined ? undefined : ({ securityScore }) => securityScore !== null && securityScore >= least,
    condition: (least) => (least === undefined ? undefined : eb('security_score', '>=', least)),
  },
  client: {
    test(wanted) {
      if (wanted === undefined) return undefined
      const bit = toClientBit(wanted)
      return ({ loadedBy }) => (loadedBy & bit) !== 0
    },
    condition: (wanted) => (wanted === undefined ? undefined : sql`(loaded_by & ${toClientBit(wanted)}) <> 0`),
  },
}

function flagRule<Wanted>(flag: Flag, toValue: (wanted: Wanted) => boolean | undefined): FilterRule<Wanted> {
  return {
    flag(wanted) {
      const isSet = toValue(wanted)
      return isSet === undefined ? undefined : { flag, isSet }
    },
    condition(wanted) {
      const isSet = toValue(wanted)
      return isSet === undefined ? undefined : eb(flag, '=', isSet ? 1 : 0)
    },
  }
}

/** The rule of a filter by a text that must be equal apart from the case. `compare` gets the text in lower case. */
function textRule(
  field: 'category' | 'license' | 'owner',
  compare: (wanted: string, database: Pick<Database, 'read'>) => Condition | Promise<Condition>,
): FilterRule<string | undefined> {
  return {
    test(wanted) {
      const folded = wanted?.toLowerCase()
      return folded === undefined ? undefined : (row) => row[field] === folded
    },
    condition: (wanted, database) => (wanted === undefined ? undefined : compare(wanted.toLowerCase(), database)),
  }
}

/** Compares the few distinct texts in JavaScript, because SQLite's `lower` only converts ASCII. */
async function isSpelling(column: 'category' | 'license', folded: string, read: Database['read']): Promise<Condition> {
  const rows = await read.selectFrom('skills').select(column).distinct().execute()
  const spellings = rows.map((row) => row[column]).filter((text) => text.toLowerCase() === folded)
  return spellings.length === 0 ? sql`1 = 0` : eb(column, 'in', spellings)
}

const filterNames = keysOf(filterRules)

/** The condition on the rows of `skills` that pass all filters. */
export async function toFilterCondition(
  database: Pick<Database, 'read'>,
  filters: SearchFilters,
): Promise<Expression<SqlBool>> {
  const conditionOf = <Name extends SearchFilterName>(name: Name) =>
    filterRules[name].condition(filters[name], database)
  const conditions = await Promise.all(filterNames.map(conditionOf))
  return eb.and(conditions.flatMap((condition) => condition ?? []))
}

/** The bits of a skill's flags. */
export function toFilterFlags(document: FilterValues): number {
  return entriesOf(flagBits).reduce((bits, [name, bit]) => (document[name] ? bits | bit : bits), 0)
}

/** The properties of a skill other than flags that the filters compare. */
export function toFilterRow(document: FilterValues): FilterRow {
  const { category, license, owner, keywords, securityScore, loadedBy } = document
  return {
    category: category.toLowerCase(),
    license: license.toLowerCase(),
    owner: owner.toLowerCase(),
    keywords: keywords.map((keyword) => keyword.toLowerCase()),
    securityScore,
    loadedBy,
  }
}

/** The tests of a skill in the index: it passes if its flags under `mask` equal `value`, and its row passes all tests. */
export function toIndexTests(filters: SearchFilters): { mask: number; value: number; tests: RowTest[] } {
  const flagOf = <Name extends SearchFilterName>(name: Name) => filterRules[name].flag?.(filters[name])
  const testOf = <Name extends SearchFilterName>(name: Name) => filterRules[name].test?.(filters[name])
  let [mask, value] = [0, 0]
  for (const { flag, isSet } of filterNames.flatMap((name) => flagOf(name) ?? [])) {
    mask |= flagBits[flag]
    if (isSet) value |= flagBits[flag]
  }
  return { mask, value, tests: filterNames.flatMap((name) => testOf(name) ?? []) }
}
