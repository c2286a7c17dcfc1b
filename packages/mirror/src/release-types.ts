import type { MirrorReport, Output, PathReason, endpoints } from '@skillstead/protocol'

/**
 * A release: a version of a skill as read from an upstream without a public log (a registry that implements only the
 * specification, a discovery index, a git repository or a folder).
 */
export interface Release {
  owner: string
  name: string
  version?: string
  /** Milliseconds since 1970. */
  publishedAt?: number
  /** `executable` is undefined if the source has no modes: `#!` then marks a program. */
  files: { path: string; bytes: Uint8Array; executable?: boolean | undefined }[]
  displayName?: string
  description?: string
  license?: string
  category?: string
  keywords?: string[]
  repository?: string
  changelog?: string
  deprecated?: boolean
  deprecationMessage?: string
  yanked?: boolean
  /** The active recalls of the skill, as its source states them. Default: the stored recalls stay. */
  recalls?: readonly unknown[]
  visibility?: 'public' | 'private'
  skillId?: string
  publisher?: { id: string; username: string }
  /** The digest that the source states; the import checks it. */
  digest?: string
}

/** The stored state of a skill that was imported from an upstream. */
export interface KnownSkill {
  isPrivate: boolean
  /** Whether the source withdrew the skill from the public. */
  isWithdrawn: boolean
  deprecated: boolean
  /** The ids of the active recalls of the source. */
  recallIds: readonly string[]
  /** Versions by number. */
  versions: ReadonlyMap<string, KnownVersion>
}

export interface KnownVersion {
  digest: string
  /** Milliseconds since 1970. */
  publishedAt: number
  yanked: boolean
}

/** What is already stored of an upstream, so that a source need not read it again. */
export interface KnownReleases {
  /** Finds the skills that were imported from this upstream, by full name. */
  find(fullNames: readonly string[]): Promise<ReadonlyMap<string, KnownSkill>>
  /** Finds the subjects (`owner/name` or `owner/name@version`) that were refused recently. */
  findRefused(subjects: readonly string[]): Promise<ReadonlySet<string>>
  /** Finds the owners whose namespace belongs to a user of this node. */
  findClaimed(owners: readonly string[]): Promise<ReadonlySet<string>>
}

/** Skills that were read together. */
export interface SnapshotBatch {
  releases: Release[]
  /** Where the next run continues after these releases were stored. */
  cursor: unknown
  /** Skills that could not be read. */
  refused?: Refusal[]
  /**
   * Files that are no part of their skills (`omitted`) or are stored with another content (`changed`); paths begin at
   * the source.
   */
  omitted?: PathReason[]
  changed?: PathReason[]
  /** Number of skills that are unchanged. */
  unchanged?: number
  estimate?: { left: number; secondsLeft: number }
}

/** Reads the skills of an upstream without a log. */
export interface SnapshotSource {
  /** The skills that are not `known`, in batches, from a cursor of an earlier run on. */
  list(cursor: unknown, known: KnownReleases): AsyncIterable<SnapshotBatch>
  /** Number of requests sent so far. */
  readonly requests: number
}

/** One entry of a node's public log, as its feed returns it. */
export type FeedEntry = Output<(typeof endpoints)['getFeed']>['entries'][number]

/** A page of the log of an upstream. */
export interface FeedPage {
  origin: string
  epoch: number
  entries: FeedEntry[]
  next: number
  head: number
  checkpoint: string | null
}

/** Reads the public log of a registry: from a node over HTTP, or from a bundle file. */
export interface LogSource {
  /** Whether the log is a copy, such as a bundle. A copy may be old, and may end before the stored log. */
  readonly isCopy?: boolean
  /** Reads the page of entries after the position `since`. */
  readPage(since: number): Promise<FeedPage>
  /** Reads the requested blobs that the source has, in any order. The caller checks their digests. */
  readBlobs(digests: readonly string[]): AsyncIterable<{ digest: string; bytes: Uint8Array }>
  /** Reads the verifier keys that the source publishes. */
  readKeys(): Promise<string[]>
  /** Whether a skill's owner is verified at the source. Absent if the source cannot know, as a bundle. */
  isVerified?(fullName: string): Promise<boolean>
  /** Number of requests sent so far. */
  readonly requests: number
}

/** An entry or release that was not imported, with the reason. */
export type Refusal = MirrorReport['refused'][number]
