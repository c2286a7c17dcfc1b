import { limits } from '@skillstead/protocol'
import { type ArchiveError, type PathProblem, toArchiveError } from './archive-error.ts'
import type { SourceEntry } from './select-files.ts'

/** A file of an archive; the path is relative to SKILL.md. */
export interface ArchiveFile {
  readonly path: string
  readonly bytes: Uint8Array
  /** Whether its mode makes it a program; undefined if the source has no modes. See `isExecutable`. */
  readonly executable?: boolean | undefined
}

/** An entry of an archive. Only files have content. */
export type ArchiveEntry = ArchiveFile & SourceEntry

/** Limits of an archive. The limits of a version apply later, to the files that are selected from the entries. */
export interface ReadLimits {
  /** Number of entries, including folders and entries that are left out. */
  readonly entriesMax: number
  /** Bytes of all files. */
  readonly bytesMax: number
}

/**
 * Limits for the archive of one skill. Larger than those of a version, because the archive may also have nested skills
 * and entries that are left out.
 */
export const readLimits: ReadLimits = {
  entriesMax: 8 * limits.versionFilesMax,
  bytesMax: 2 * limits.versionBytesMax,
}

/** Common options of the readers of zip and tar archives: limits, a filter of entries, and the list of problems. */
export interface ReadOptions {
  /** Default: {@link readLimits}. */
  readonly limits?: ReadLimits
  /** Returns the path of an entry; undefined for entries to leave out. */
  readonly keep: (name: string) => string | undefined
  readonly problems: PathProblem[]
  /** Whether links and devices are returned as entries without content. Default: they are problems. */
  readonly takesLinks?: boolean
  /** Whether entries without a problem are read even if other entries have a problem. */
  readonly skipsProblems?: boolean
}

/** The path of an entry without `./` at its beginning, which `tar -c .` puts before every name. */
export function toEntryPath(name: string): string {
  return name.replace(/^(?:\.\/)+/, '')
}

/** The error for an archive with too many entries. */
export function toTooManyEntries({ entriesMax }: Pick<ReadLimits, 'entriesMax'>): ArchiveError {
  return toArchiveError(`The archive has more than ${entriesMax} entries. ${packLess}`)
}

/** The error for an archive with too many bytes, like {@link toTooManyEntries}. */
export function toTooManyBytes({ bytesMax }: Pick<ReadLimits, 'bytesMax'>): ArchiveError {
  return toArchiveError(`The archive inflates to more than ${bytesMax / 1024 / 1024} MiB. ${packLess}`)
}

const packLess = 'Pack only the folder of the skill.'
