import { sep } from 'node:path'

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
