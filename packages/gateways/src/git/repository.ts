import type { GitObject } from './git-objects.ts'

/** A file of the registry as a blob of git: `id` is its SHA-1, `digest` its SHA-256 in the registry. */
export interface StoredBlob {
  readonly kind: 'blob'
  readonly id: string
  readonly digest: string
  readonly size: number
}

/** A tree or blob that is generated again whenever its bytes are needed. */
export interface GeneratedObject {
  readonly kind: 'tree' | 'blob'
  readonly id: string
  readonly size: number
  toBytes(): Promise<Uint8Array>
}

/** A generated object as a delta: the instructions (`bytes`) that make it from another object, its `base`. */
interface DeltaObject {
  readonly kind: 'delta'
  readonly id: string
  readonly base: string
  readonly bytes: Uint8Array
  /** The whole object, for a client that lacks the base. */
  readonly whole: GeneratedObject
}

/** An object of a pack: in memory, stored as a file of the registry, generated, or a delta. */
export type PackObject = GitObject | StoredBlob | GeneratedObject | DeltaObject

/** A version of a skill in a commit. Versions with the same digest have the same trees and blobs. */
export interface CommitVersion {
  readonly id: string
  readonly digest: string
  /** The folder of the version. A later version in the same folder replaces this one. */
  readonly folder: string
}

/** A commit of a repository. */
export interface Commit {
  readonly object: GitObject
  readonly parent: string | undefined
  readonly timeSeconds: number
  /** The versions that the commit adds. */
  readonly versions: readonly CommitVersion[]
  /**
   * Whether the commit also contains the versions of the previous commit in the history, except in the folders of the
   * versions that it adds.
   */
  readonly isCumulative: boolean
  /** The generated trees and files of the commit. */
  readonly texts: readonly (GitObject | GeneratedObject)[]
  /** The generated trees and files, some of them as deltas against objects of the parent. */
  readonly changedTexts: readonly PackObject[]
}

/** An annotated tag. */
export interface Tag {
  readonly object: GitObject
  /** The id of the tagged commit. */
  readonly commit: string
}

/** A reference. */
export interface Ref {
  readonly name: string
  readonly id: string
  /** The id of the tagged commit, if the reference is an annotated tag. */
  readonly peeled?: string
}

/** The branch that clones check out. */
export const mainRef = 'refs/heads/main'

/** A repository as clients see it. All commits can be fetched by id, even those that no reference leads to. */
export interface Repository {
  /** Sorted by name, without HEAD, which is a symbolic reference to {@link mainRef}. */
  readonly refs: readonly Ref[]
  /** The commits by id, in the order of the history, oldest first. */
  readonly commits: ReadonlyMap<string, Commit>
  readonly tags: ReadonlyMap<string, Tag>
}

/** The commit at {@link mainRef}; undefined for an empty repository. */
export function findHead({ refs }: Repository): string | undefined {
  return refs.find(({ name }) => name === mainRef)?.id
}

/** The commit that an object id names, directly or by a tag; undefined if the repository has no such commit or tag. */
export function findCommit({ commits, tags }: Repository, id: string): string | undefined {
  return commits.has(id) ? id : tags.get(id)?.commit
}
