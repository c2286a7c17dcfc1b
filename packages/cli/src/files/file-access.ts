import { statSync, type Stats } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * Throws for a file of the user's configuration that other users of the machine can change, or that another user except
 * root owns, because the file decides which keys and folders are trusted. Root may use the files of all users, such as
 * those of the user who became root.
 */
export function requireOwn(file: string, { uid, mode }: Stats): void {
  // Windows uses access control lists instead of these modes.
  if (process.getuid === undefined) return
  const own = process.getuid()
  if (own !== 0 && uid !== own && uid !== 0)
    throw new Error(`${file} belongs to another user of this machine, so it is not used. Check and delete it.`)
  if ((mode & 0o022) !== 0)
    throw new Error(
      `Other users of this machine can change ${file}, so it is not used. Check it, and run: chmod go-w ${file}`,
    )
}

/**
 * A warning for the operator if other users of the machine can open or replace an SQLite file or its journal, which
 * contain private skills and secrets, or the key of the secrets. New files are private to their owner; older, copied or
 * restored files may not be.
 */
export function findAccessWarning(path: string | undefined): string | undefined {
  // Windows uses access control lists instead of these modes.
  if (path === undefined || process.platform === 'win32') return undefined
  const home = dirname(path)
  const folder = modeOf(home)
  // In a sticky folder only the owner of a file can replace it.
  if ((folder & 0o1002) === 0o002)
    return `Other users of this machine can replace the files in ${home}. Run: chmod o-w ${home}`
  const files = [...['', '-wal', '-shm'].map((end) => path + end), join(home, 'secret.key')]
  const open = files.filter((file) => isOpenToOthers(modeOf(file), folder))
  if (open.length === 0) return undefined
  return `Other users of this machine can open ${open.join(', ')}. Run: chmod 600 ${open.join(' ')}`
}

/** Whether the group or all users can read or write the file and enter its folder. */
function isOpenToOthers(file: number, folder: number): boolean {
  return ((file & 0o060) !== 0 && (folder & 0o010) !== 0) || ((file & 0o006) !== 0 && (folder & 0o001) !== 0)
}

/** The mode of a file; 0 if it does not exist. */
function modeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mode ?? 0
}
