import type { PathProblem } from './archive-error.ts'
import type { FileLimits } from './file-paths.ts'
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

/** Common options of both archive readers: limits, a filter of entries, and the list of problems. */
export interface ReadOptions {
  readonly limits: FileLimits
  /** Returns the path of an entry; undefined for entries to leave out. */
  readonly keep: (name: string) => string | undefined
  readonly problems: PathProblem[]
  /** Whether links and devices are returned as entries without content. Default: they are problems. */
  readonly takesLinks?: boolean
}

/** The path of an entry: `tar -c .` puts `./` before every name, and macOS stores names in decomposed form. */
export function toEntryPath(name: string): string {
  return name.replace(/^(?:\.\/)+/, '').normalize('NFC')
}
