import { sep } from 'node:path'
import type { ScanFile } from '../files/scan-file.ts'

/** A skill, or some of its files, to scan. */
export interface Sample {
  /** Identifies the sample in reports: the path of its SKILL.md, or the name of its record. */
  readonly id: string
  /** SKILL.md first, if there is one. */
  readonly files: readonly ScanFile[]
  /** Where its files are. */
  readonly at: SamplePlace
}

/** A folder, with the name of its SKILL.md there; or the file, address or stream that contains all of the sample. */
type SamplePlace = { readonly folder: string; readonly skillFile: string } | { readonly container: string }

/** Options for folders. */
export interface FolderOptions {
  /** Receives remarks on paths that are left out on purpose. */
  readonly onNote: (id: string, note: string) => void
  /** Receives every folder that is listed. Default: ignored. */
  readonly onFolder?: (folder: string) => void
  /** Whether the skill of a folder is to be read. Default: every skill. */
  readonly isWanted?: (folder: string) => boolean
}

/** Folders that are not part of a skill: those of version control, and installed packages. */
export const leftOut: ReadonlySet<string> = new Set(['.git', 'node_modules', '__MACOSX'])

/** Files of operating systems, which no agent reads. */
export const meaningless: ReadonlySet<string> = new Set(['.DS_Store'])

/** A path with `/` on every system. */
export function toId(path: string): string {
  return sep === '/' ? path : path.replaceAll(sep, '/')
}
