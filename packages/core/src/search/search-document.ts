import type { Audience } from '../visibility/audience.ts'
import type { FilterValues } from './filters.ts'

/** A skill as input of the search index. */
export interface SearchDocument extends FilterValues {
  /** The row number of the skill; a non-negative integer. */
  id: number
  name: string
  /** `owner/name`: breaks ties. */
  fullName: string
  displayName: string
  description: string
  headings: string[]
  summary: string
  /** The terms of the latest version's SKILL.md, from `toContentVector`. Default: none. */
  content?: Uint8Array
  audience: Audience
  /** The keys of the users who find the skill if its audience is `readers`: see `findReaderKeys`. */
  readers: string[]
  downloads: number
  stars: number
  /** The lower end of the interval of the evaluated effect; -2 without an effect. */
  effectLow: number
  /** Milliseconds since 1970. */
  publishedAt: number
}

/** The searchable texts of a skill, apart from its body. */
export type SearchTexts = Pick<SearchDocument, (typeof searchFields)[number] | 'displayName'>

/** The searchable fields, in the order in which they are indexed. */
export const searchFields = ['name', 'owner', 'keywords', 'description', 'headings', 'summary', 'category'] as const
