import type { Refusal } from './types.ts'

/** A version of a skill as a source without a log tells it. */
export interface Release {
  owner: string
  name: string
  version?: string
  /** Milliseconds since 1970. */
  publishedAt?: number
  files: { path: string; bytes: Uint8Array }[]
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
  visibility?: 'public' | 'private'
  skillId?: string
  publisher?: { id: string; username: string }
  /** As the source says; it is checked. */
  digest?: string
}

/** A skill that came from an upstream, as it is here. */
export interface KnownSkill {
  isPrivate: boolean
  /** Its source took it out of public sight. */
  isWithdrawn: boolean
  deprecated: boolean
  /** By number. */
  versions: ReadonlyMap<string, KnownVersion>
}

export interface KnownVersion {
  digest: string
  /** Milliseconds since 1970. */
  publishedAt: number
  yanked: boolean
}

/** What is here already of an upstream, so that a source need not read it again. */
export interface KnownReleases {
  /** Those of the skills that came from this upstream, by full name. */
  find(fullNames: readonly string[]): Promise<ReadonlyMap<string, KnownSkill>>
  /** Those of the subjects (`owner/name` or `owner/name@version`) that were refused not long ago. */
  findRefused(subjects: readonly string[]): Promise<ReadonlySet<string>>
  /** Those of the owners whose namespace a user of this node has. */
  findClaimed(owners: readonly string[]): Promise<ReadonlySet<string>>
}

/** Where a registry without a log is read. */
export interface SnapshotSource {
  list(
    cursor: unknown,
    known: KnownReleases,
  ): AsyncIterable<{
    releases: Release[]
    /** Where to go on once these are stored. */
    cursor: unknown
    /** What could not be read, and how many skills are here as they are there. */
    refused?: Refusal[]
    unchanged?: number
    estimate?: { left: number; secondsLeft: number }
  }>
  /** How many requests went out so far. */
  readonly requests: number
}
