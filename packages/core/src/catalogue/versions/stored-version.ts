import type { Access, Change, ManifestFile, Opinion, Widens } from '@skillstead/protocol'
import type { VersionMetadata } from '../../storage/tables.ts'
import type { StoredScan } from './inspection.ts'

/** A file of a version: its path and the digest of its bytes. */
export type FileRow = ManifestFile

/** A stored file in the form of the API. */
export function toFileRow(file: Omit<FileRow, 'executable'> & { readonly executable?: boolean | number }): FileRow {
  const { path, size, digest, executable } = file
  return executable ? { path, size, digest, executable: true } : { path, size, digest }
}

/** The access of a version, and how the version compares with its baseline, in the form of the API. */
export interface ShownAccess {
  readonly access: Access
  /**
   * The access that the version adds to its baseline, the version that it is compared with; null without a baseline, or
   * if it adds none.
   */
  readonly widens: Widens | null
  /**
   * The verdict on the changes since the baseline; null without a baseline, and until a rescan has read both versions.
   */
  readonly change: Change | null
  /** The opinion of a service on the content of the version; null without an opinion. */
  readonly opinion: Opinion | null
}

/** The parts of a version that its row in a list does not contain. */
export interface VersionContent {
  readonly metadata: VersionMetadata
  readonly files: readonly FileRow[]
  /** Absent if the version was not scanned yet. */
  readonly scan?: StoredScan | undefined
  /** What the version accesses, if already known. */
  readonly uses?: ShownAccess
  /** The stored terms of the version's SKILL.md, if already known. */
  readonly terms?: Uint8Array
}
