import type { Audience } from '../visibility/audience.ts'

/** A skill as input of the search index. */
export interface SearchDocument {
  /** The row number of the skill; a non-negative integer. */
  id: number
  name: string
  owner: string
  /** `owner/name`: breaks ties. */
  fullName: string
  displayName: string
  keywords: string[]
  description: string
  headings: string[]
  summary: string
  /** The terms of the latest version's SKILL.md, from `toContentVector`. Default: none. */
  content?: Uint8Array
  category: string
  license: string
  audience: Audience
  /** The keys of the users who find the skill if its audience is `readers`: see `findReaderKeys`. */
  readers: string[]
  stub: boolean
  verified: boolean
  deprecated: boolean
  /** 0 to 100; null before the first scan. */
  securityScore: number | null
  /** The clients that load the skill, from `toLoadedBy`. */
  loadedBy: number
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
