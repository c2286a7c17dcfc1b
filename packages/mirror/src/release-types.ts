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
  /** `executable`: undefined if a source has no file modes; a file that begins with `#!` then counts as executable. */
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
  /** The active recalls of the skill, as its source states them. Default: the stored recalls do not change. */
  recalls?: readonly unknown[]
  visibility?: 'public' | 'private'
  skillId?: string
  publisher?: { id: string; username: string }
  /** The digest that the source states. The import compares it with the files. */
  digest?: string
}

/** The stored state of a skill that was imported from an upstream. */
export interface KnownSkill {
  isPrivate: boolean
  /** Whether the source stopped showing the skill to the public. */
  isWithdrawn: boolean
  deprecated: boolean
  /** The ids of the active recalls that came from the source. */
  recallIds: readonly string[]
  /** The stored versions by number. */
  versions: ReadonlyMap<string, KnownVersion>
}

export interface KnownVersion {
  digest: string
  /** Milliseconds since 1970. */
  publishedAt: number
  yanked: boolean
}

/** Finds what is already stored of an upstream, so that a source does not read it again. */
export interface KnownReleases {
  /** Finds the skills that were imported from this upstream, by full name. */
  find(fullNames: readonly string[]): Promise<ReadonlyMap<string, KnownSkill>>
  /** Finds the subjects (`owner/name` or `owner/name@version`) that were refused recently. */
  findRefused(subjects: readonly string[]): Promise<ReadonlySet<string>>
  /** Finds the owners whose namespace belongs to a user of this node. */
  findClaimed(owners: readonly string[]): Promise<ReadonlySet<string>>
}

/** Releases that a source read together, and that are stored together. */
export interface SnapshotBatch {
  releases: Release[]
  /** The position from which the next run continues after these releases were stored. */
  cursor: unknown
  /** Skills that could not be read. */
  refused?: Refusal[]
  /**
   * Files that are not stored with their skills (`omitted`), or are stored with other content (`changed`). Paths are
   * relative to the root of the source.
   */
  omitted?: PathReason[]
  changed?: PathReason[]
  /** Number of listed skills that did not change. */
  unchanged?: number
  estimate?: { left: number; secondsLeft: number }
}

/** Reads the skills of an upstream without a log. */
export interface SnapshotSource {
  /** Yields the skills that are not `known`, in batches. `cursor`: the position after an earlier run. */
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
  /** Whether the log is a copy, such as a bundle, which may be old, and may end before the end of the stored log. */
  readonly isCopy?: boolean
  /** Reads a page of the entries after position `since`. */
  readPage(since: number): Promise<FeedPage>
  /** Reads those of the requested blobs that the source has, in any order. The caller checks their digests. */
  readBlobs(digests: readonly string[]): AsyncIterable<{ digest: string; bytes: Uint8Array }>
  /** Reads the verifier keys that the source publishes. */
  readKeys(): Promise<string[]>
  /** Whether a skill's owner is verified at the source. Absent for a source that cannot know this, such as a bundle. */
  isVerified?(fullName: string): Promise<boolean>
  /** Number of requests sent so far. */
  readonly requests: number
}

/** An entry or release that was not imported, with the reason. */
export type Refusal = MirrorReport['refused'][number]
