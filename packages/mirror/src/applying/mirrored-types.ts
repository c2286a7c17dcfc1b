import type { Security } from '@skillstead/protocol'
import type { WriteTransaction } from '@skillstead/core/internal'

/** An entry of an upstream's public log, as its feed gives it. */
export interface FeedEntry {
  readonly seq: number
  readonly type: string
  /** ISO 8601. */
  readonly at: string
  readonly subject: string
  readonly digest: string | null
  readonly data: Readonly<Record<string, unknown>>
}

/** Which registry something comes from: the upstream's name here, and the name and epoch of its log. */
export interface MirrorSource {
  readonly name: string
  readonly origin: string
  readonly epoch: number
}

/** Why something of an upstream did not come in. */
export type RefusalReason =
  /** It says what no registry could mean. */
  | 'malformed'
  /** The name, or the whole namespace, belongs to this node. */
  | 'owned_locally'
  /** The name came from another upstream, or the skill did. */
  | 'other_source'
  /** The name is taken here by a skill that was deleted or moved. */
  | 'name_taken'
  /** The number is here with other content. */
  | 'version_exists'
  /** Its files were not sent: upstream, the skill may be withdrawn since. */
  | 'missing'
  /** The same of a bundle, which was made without it. */
  | 'not_in_bundle'
  /** Files that are not the ones that the digests name. */
  | 'altered'
  /** The policy on scans would hold or refuse it. */
  | 'policy'
  /** The package breaks a limit or a rule of paths. */
  | 'invalid'
  /** `accepts` said no, with a reason of its own. */
  | 'filtered'

/** What became of an entry or a release. `detail` is a sentence for the operator. */
export type MirrorOutcome =
  /** `hid`: the skill was in public sight before and is no more; `shown`: it was not, and is now. */
  | { readonly result: 'applied'; readonly fullName: string; readonly hid?: boolean; readonly shown?: boolean }
  /** It is here already, is the node's own, or is of something that was not let in. */
  | { readonly result: 'unchanged' }
  | { readonly result: 'refused'; readonly reason: RefusalReason; readonly detail: string }

export type EntryOutcome = MirrorOutcome
export type ReleaseOutcome = MirrorOutcome

export interface ApplyEntries {
  readonly upstream: MirrorSource
  /** In the order of the log. */
  readonly entries: readonly FeedEntry[]
  /**
   * Set where they may come after later ones of the same skill, as when one is tried again: those do not say anew what the
   * skill is called, and the like.
   */
  readonly isReread?: boolean
  /** Bytes by their digests: those that {@link findMissingBlobs} found missing, lists of files among them. */
  readonly contents: ReadonlyMap<string, Uint8Array>
  /** Says why an entry is not wanted, in a sentence; undefined where it is. */
  accepts?(entry: FeedEntry): string | undefined
  /** The same once the content of a version was looked at; not asked of one that is here already. */
  acceptsScan?(entry: FeedEntry, scan: Security): string | undefined
  /** Runs in the transaction that applies the entry, also where it changes nothing or is refused: what it throws undoes that. */
  also(trx: WriteTransaction, entry: FeedEntry, outcome: EntryOutcome): Promise<void>
}

/** A version of a registry that has no log, with what it says of the skill. */
export interface MirrorRelease {
  readonly owner: string
  readonly name: string
  /** The next patch, or the number that has this content already, where it is not said. */
  readonly version?: string | undefined
  /** Milliseconds since 1970. */
  readonly publishedAt?: number | undefined
  /** SKILL.md among them. */
  readonly files: readonly { readonly path: string; readonly bytes: Uint8Array }[]
  readonly displayName?: string | undefined
  readonly description?: string | undefined
  readonly license?: string | undefined
  readonly category?: string | undefined
  readonly keywords?: readonly string[] | undefined
  readonly repository?: string | undefined
  readonly changelog?: string | undefined
  readonly deprecated?: boolean | undefined
  readonly deprecationMessage?: string | undefined
  readonly yanked?: boolean | undefined
  readonly visibility?: 'public' | 'private' | undefined
  readonly skillId?: string | undefined
  readonly publisher?: { readonly id: string; readonly username: string } | undefined
  /** Of the version, as the source says: other content is refused as `altered`. */
  readonly digest?: string | undefined
  /** Whether the skill may answer to its short name; true unless it is said. */
  readonly holder?: boolean | undefined
}

export interface ApplyReleases {
  /** The upstream's name here. */
  readonly upstream: string
  /** Those of one skill oldest first. */
  readonly releases: readonly MirrorRelease[]
  /** Says why a version is not wanted once its content was looked at; undefined where it is. */
  acceptsScan?(release: MirrorRelease, scan: Security): string | undefined
  also?(trx: WriteTransaction, release: MirrorRelease, outcome: ReleaseOutcome): Promise<void>
}
