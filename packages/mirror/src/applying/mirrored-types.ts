import type { Security } from '@skillstead/protocol'
import type { WriteTransaction } from '@skillstead/core/internal'
import type { Release } from '../release-types.ts'
import type { FeedEntry } from '../types.ts'

/** The upstream that entries come from: its name on this node, and the name and epoch of its log. */
export interface MirrorSource {
  readonly name: string
  readonly origin: string
  readonly epoch: number
}

/** Why an entry or release of an upstream was not imported. */
export type RefusalReason =
  /** The entry or release is invalid. */
  | 'malformed'
  /** The name, or all names of its owner, belong to a user of this node. */
  | 'owned_locally'
  /** The name, or the skill under another name, was imported from another upstream. */
  | 'other_source'
  /** The name belongs to a deleted or transferred skill of this node. */
  | 'name_taken'
  /** The version number is stored with other content. */
  | 'version_exists'
  /** The upstream did not return the files: it may have withdrawn the skill since. */
  | 'missing'
  /** The bundle was created without the files, because of its filters. */
  | 'not_in_bundle'
  /** The database of this node failed to store the version. */
  | 'failed'
  /** The files do not match their digests. */
  | 'altered'
  /** The scan policy of this node would quarantine or refuse the version. */
  | 'policy'
  /** The package violates a limit or a rule for paths. */
  | 'invalid'
  /** The filters of the upstream exclude the skill. */
  | 'filtered'

/** What applying an entry or release did. */
export type MirrorOutcome =
  /** `hid`: the skill was public and is no longer public; `shown`: the skill became public. */
  | { readonly result: 'applied'; readonly fullName: string; readonly hid?: boolean; readonly shown?: boolean }
  /** Nothing was stored: the change is already stored, comes from this node, or is of a skill that was not imported. */
  | { readonly result: 'unchanged' }
  /** `detail` is a sentence for the operator. */
  | { readonly result: 'refused'; readonly reason: RefusalReason; readonly detail: string }

export interface ApplyEntries {
  readonly upstream: MirrorSource
  /** The entries to apply, in the order of the log. */
  readonly entries: readonly FeedEntry[]
  /**
   * Whether later entries of the same skill may have been applied already, for example when a version is retried whose
   * content was missing before. The metadata of the skill then stays as the later entries set it.
   */
  readonly isReread?: boolean
  /** The blobs that {@link findMissingBlobs} listed, by digest, including lists of files. */
  readonly contents: ReadonlyMap<string, Uint8Array>
  /** Explains in a sentence why an entry is refused; undefined if it is accepted. */
  accepts?(entry: FeedEntry): string | undefined
  /** Explains in a sentence why a scanned version is refused; undefined if accepted. Not called for stored versions. */
  acceptsScan?(entry: FeedEntry, scan: Security): string | undefined
  /** Called in the transaction of each entry, whatever the outcome. An error rolls the transaction back. */
  also(trx: WriteTransaction, entry: FeedEntry, outcome: MirrorOutcome): Promise<void>
}

/** A release to import. Without a version number, it gets the next patch number. */
export type MirrorRelease = {
  readonly [Field in keyof Release]: Release[Field] | (undefined extends Release[Field] ? undefined : never)
} & {
  /** Whether the skill may hold its short name. Default: true. */
  readonly holder?: boolean | undefined
}

export interface ApplyReleases {
  /** The upstream's name on this node. */
  readonly upstream: string
  /** The releases to apply. Those of one skill are in order of age, oldest first. */
  readonly releases: readonly MirrorRelease[]
  /** Explains in a sentence why a scanned release is refused; undefined if it is accepted. */
  acceptsScan?(release: MirrorRelease, scan: Security): string | undefined
  /** Called in the transaction of each release, whatever the outcome. An error rolls the transaction back. */
  also?(trx: WriteTransaction, release: MirrorRelease, outcome: MirrorOutcome): Promise<void>
}
