/** Who may find a skill: everybody, every signed-in user, or the users that are named. */
type Visibility = 'public' | 'internal' | 'private'

/** What the search index knows of one skill. */
export interface SearchDocument {
  /** The row number of the skill; whole and not negative. */
  id: number
  name: string
  owner: string
  /** `owner/name`: what equals are ordered by. */
  fullName: string
  displayName: string
  keywords: string[]
  description: string
  headings: string[]
  summary: string
  category: string
  license: string
  visibility: Visibility
  /** Ids of the users who may find the skill while it is private: its owner and the collaborators. */
  readers: string[]
  stub: boolean
  verified: boolean
  deprecated: boolean
  /** 0 to 100, null before the first scan. */
  securityScore: number | null
  downloads: number
  stars: number
  /** Milliseconds since 1970. */
  publishedAt: number
}

/** The fields whose words are searched, in the order they are indexed. */
export const searchFields = ['name', 'owner', 'keywords', 'description', 'headings', 'summary', 'category'] as const
