import { statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * A warning for the operator if other users of the machine can open an SQLite file or its journal, which contain
 * private skills and secrets. New files are private to their owner; older, copied or restored files may not be.
 */
export function findAccessWarning(path: string | undefined): string | undefined {
  // Windows uses access control lists instead of these modes.
  if (path === undefined || process.platform === 'win32') return undefined
  const folder = modeOf(dirname(path))
  const open = ['', '-wal', '-shm'].map((end) => path + end).filter((file) => isOpen(modeOf(file), folder))
  if (open.length === 0) return undefined
  return `Other users of this machine can open ${open.join(', ')}. Run: chmod 600 ${open.join(' ')}`
}

/** Whether the group or all users can read or write the file and enter its folder. */
function isOpen(file: number, folder: number): boolean {
  return ((file & 0o060) !== 0 && (folder & 0o010) !== 0) || ((file & 0o006) !== 0 && (folder & 0o001) !== 0)
}

/** Returns 0 for a file that does not exist. */
function modeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mode ?? 0
}
