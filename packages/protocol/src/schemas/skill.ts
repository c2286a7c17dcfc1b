import * as v from 'valibot'
import { SearchFilters } from './search-filters.ts'
import { Access, Widens } from './access.ts'
import { Change } from './change.ts'
import { AvatarUrl, Count, Digest, Id, Timestamp, Version, pageFields } from './fields.ts'
import { EvaluationSummary } from './evaluation.ts'
import { Opinion } from './opinion.ts'
import { Requires } from './requires.ts'
import { PublisherIdentity } from './trusted-publisher.ts'
import { Security } from './security.ts'

const Author = v.object({ id: Id, username: v.string(), avatarUrl: AvatarUrl })

/** An item of a search result (docs/api.md#a-skill-in-a-list). */
export const Skill = v.object({
  id: Id,
  name: v.string(),
  fullName: v.string(),
  description: v.string(),
  latestVersion: v.string(),
  downloads: Count,
  stars: Count,
  securityScore: v.nullable(v.pipe(v.number(), v.minValue(0), v.maxValue(100))),
  verified: v.boolean(),
  deprecated: v.boolean(),
  category: v.string(),
  license: v.string(),
  author: Author,
  publishedAt: Timestamp,
  /** The lower end of the interval of the latest version's effect in evaluations; absent without such results. */
  effectLow: v.optional(v.pipe(v.number(), v.minValue(-1), v.maxValue(1))),
})
export type Skill = v.InferOutput<typeof Skill>

const SearchMatch = v.object({
  score: v.number(),
  /** Fields that contain a term of the query; `body` is the text of SKILL.md. */
  fields: v.array(v.string()),
  /** The words of the skill that matched. */
  terms: v.array(v.string()),
  /** The part of SKILL.md that answers the query best: plain text of at most 160 UTF-16 units. */
  passage: v.optional(v.string()),
  /** Start and end of each word of the passage that matches, in UTF-16 units. */
  highlights: v.optional(v.array(v.tuple([Count, Count]))),
})
/** How a skill matched a query, with `explain=true`. */
export type SearchMatch = v.InferOutput<typeof SearchMatch>

export const skillSorts = ['downloads', 'recent', 'stars', 'effect'] as const

const FacetValues = v.array(v.object({ value: v.string(), count: Count }))
/**
 * The most frequent values of filters among the skills that a search found, with `facets=true`. `minSecurityScore`
 * counts the skills with at least that score; `client` lists all known clients. A value, in lower case, can be passed
 * to the filter of the same name.
 */
export const SearchFacets = v.object({
  category: FacetValues,
  license: FacetValues,
  owner: FacetValues,
  keyword: FacetValues,
  minSecurityScore: FacetValues,
  client: FacetValues,
})
export type SearchFacets = v.InferOutput<typeof SearchFacets>

/** The response of a search (docs/api.md#search-results). */
export const SearchResult = v.object({
  skills: v.array(v.object({ ...Skill.entries, match: v.optional(SearchMatch) })),
  ...pageFields,
  /** Set if words of the query, completions, or skills with frequent words were left out to limit the cost. */
  partial: v.optional(v.literal(true)),
  /**
   * Set if `total` and `totalPages` are estimates: in a list of more than 100,000 skills without a query and filters.
   */
  estimated: v.optional(v.literal(true)),
  /** Absent while the node searches in the database: before its index is ready, and for very large catalogues. */
  facets: v.optional(SearchFacets),
  filters: v.object({ q: v.string(), ...SearchFilters.entries }),
})
export type SearchResult = v.InferOutput<typeof SearchResult>

const visibilities = ['public', 'internal', 'private'] as const
/** Who may read a skill: all, signed-in users, or its owner and collaborators. */
export const Visibility = v.picklist(visibilities)
export type Visibility = v.InferOutput<typeof Visibility>

/** A file of a version. */
export const VersionFile = v.object({
  path: v.string(),
  size: Count,
  digest: Digest,
  /** Whether the file may be run as a program. Default: false. */
  executable: v.optional(v.boolean()),
})

/** The recall of a version: its range, the reason in the words of the owner or an administrator, and its time. */
export const Recalled = v.object({ range: v.string(), reason: v.string(), at: Timestamp })
export type Recalled = v.InferOutput<typeof Recalled>

const VersionSummary = v.object({
  version: Version,
  publishedAt: Timestamp,
  digest: Digest,
  changelog: v.string(),
  yanked: v.boolean(),
  /** The active recall that covers the version. */
  recalled: v.optional(Recalled),
})

/** The details of a version. */
export const SkillVersion = v.object({
  ...VersionSummary.entries,
  size: Count,
  files: v.array(VersionFile),
  portable: v.boolean(),
  security: v.nullable(Security),
  access: Access,
  widens: v.nullable(Widens),
  /** Null without a lower or earlier version to compare with, and until the two versions were compared. */
  change: v.nullable(Change),
  /** Null if no external service was asked, or if it did not respond. */
  opinion: v.nullable(Opinion),
  publisher: v.object({ id: Id, username: v.string() }),
  /** The CI identity that published the version; absent if a user did. */
  identity: v.optional(PublisherIdentity),
  /** Summary of the results of evaluations of the version; absent without results. */
  evaluations: v.optional(EvaluationSummary),
})
export type SkillVersion = v.InferOutput<typeof SkillVersion>

/** The details of a skill. */
export const SkillDetails = v.object({
  ...Skill.entries,
  displayName: v.string(),
  keywords: v.array(v.string()),
  visibility: Visibility,
  /** The organisation whose members alone see an `internal` skill. Absent: all users. */
  organisation: v.optional(v.string()),
  stub: v.boolean(),
  deprecationMessage: v.string(),
  repository: v.string(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  digest: v.nullable(Digest),
  size: Count,
  files: v.array(VersionFile),
  versions: v.array(VersionSummary),
  /** The active recall that covers the shown version. */
  recalled: v.optional(Recalled),
  forkedFrom: v.nullable(v.object({ fullName: v.string(), version: v.string() })),
  forks: Count,
  /** Public skills whose latest version requires this skill. */
  dependents: Count,
  frontmatter: v.record(v.string(), v.unknown()),
  summary: v.string(),
  contract: v.nullable(v.object({ inputs: v.unknown(), outputs: v.unknown() })),
  capabilities: v.array(v.string()),
  requires: Requires,
  access: v.nullable(Access),
  widens: v.nullable(Widens),
  change: v.nullable(Change),
  opinion: v.nullable(Opinion),
  security: v.nullable(Security),
  origin: v.object({
    kind: v.picklist(['local', 'import', 'mirror', 'external']),
    upstream: v.nullable(v.string()),
    syncedAt: v.nullable(Timestamp),
  }),
  /** Summary of the results of evaluations of the version; absent without results. */
  evaluations: v.optional(EvaluationSummary),
})
export type SkillDetails = v.InferOutput<typeof SkillDetails>

/** The last install of a skill by each user; `recorded`: whether the node records installs at present. */
export const Installers = v.object({
  recorded: v.boolean(),
  installers: v.array(v.object({ username: v.string(), version: v.string(), day: v.pipe(v.string(), v.isoDate()) })),
  ...pageFields,
})

/** Downloads of a skill per day, oldest day first, without gaps; `total` counts the downloads of all time. */
export const Downloads = v.object({
  days: v.array(
    v.object({
      day: v.pipe(v.string(), v.isoDate()),
      /** Number of downloads, including installs. */
      downloads: Count,
      installs: Count,
    }),
  ),
  total: Count,
  /** The downloads of `days` by version or kind of client, most first; `other`: all that the listed groups omit. */
  groups: v.optional(v.array(v.object({ name: v.string(), downloads: Count, installs: Count }))),
})
export type Downloads = v.InferOutput<typeof Downloads>

/** A skill as its owner lists it, in any state. */
export const OwnSkill = v.object({
  ...Skill.entries,
  visibility: Visibility,
  /** The organisation whose members alone see an `internal` skill. Absent: all users. */
  organisation: v.optional(v.string()),
  /** `yanked`, `recalled`: no version is offered; `recalled` if at least one version is recalled. */
  state: v.picklist(['published', 'yanked', 'recalled', 'hidden', 'taken_down']),
  /** Whether administrators flagged the skill. */
  flagged: v.boolean(),
  updatedAt: Timestamp,
})
export type OwnSkill = v.InferOutput<typeof OwnSkill>

/** Something about a write that its author should know; the write succeeded. */
export const Warning = v.object({
  code: v.string(),
  message: v.string(),
  line: v.optional(v.pipe(v.number(), v.integer())),
})
export type Warning = v.InferOutput<typeof Warning>

/** An entry of a package that was omitted, or whose content or name was changed, and why. */
export const PathReason = v.object({ path: v.string(), reason: v.string() })
export type PathReason = v.InferOutput<typeof PathReason>

/** Warnings of the scan of the text fields, in the response to a write; absent if there are none. */
export const textWarnings = { warnings: v.optional(v.array(Warning)) }
