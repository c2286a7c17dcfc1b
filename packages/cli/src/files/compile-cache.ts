import { existsSync, mkdirSync, realpathSync, statSync } from 'node:fs'
import module from 'node:module'
import { dirname, join } from 'node:path'
import { cacheFolder } from './config.ts'

/**
 * Caches compiled code between starts: commands start in half the time and use less memory. Node runs the code in the
 * cache, so the cache must be a folder that no other user of the machine can write or replace: not the temporary
 * folder, which is Node's default. Without such a folder there is no cache.
 */
export function enableCompileCache(): void {
  const folder = findPrivateFolder()
  if (folder === undefined) return
  module.enableCompileCache(folder)
  // Threads find the cache by the environment variable, and start in less than half the time.
  const used = module.getCompileCacheDir()
  if (used !== undefined) process.env['NODE_COMPILE_CACHE'] ??= dirname(used)
}

function findPrivateFolder(): string | undefined {
  try {
    const folder = join(cacheFolder(process.env), 'compiled')
    // Check the owner before creating folders: root must leave no folders in the home folder of another user.
    if (!isOwnFolder(findExisting(folder))) return undefined
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const path = realpathSync(folder)
    return isOwnFolder(path) && (statSync(path).mode & 0o077) === 0 ? path : undefined
  } catch {
    // The user has no home folder, or it cannot be written.
    return undefined
  }
}

function findExisting(path: string): string {
  return existsSync(path) ? realpathSync(path) : findExisting(dirname(path))
}

/**
 * Whether the folder belongs to this user, and no other user can replace it: like StrictModes of OpenSSH, no parent
 * folder may belong to another user, except root, or be writable by others. On Windows, access control lists protect
 * home folders.
 */
function isOwnFolder(path: string): boolean {
  const user = process.getuid?.()
  if (user === undefined) return true
  const { uid, mode } = statSync(path)
  if (uid !== user || (mode & 0o022) !== 0) return false
  for (let at = path; at !== dirname(at); at = dirname(at)) {
    const parent = statSync(dirname(at))
    // In a sticky folder, such as /tmp, only the owner of an entry can replace it.
    const isReplaceable = (parent.mode & 0o022) !== 0 && (parent.mode & 0o1000) === 0
    if (isReplaceable || (parent.uid !== user && parent.uid !== 0)) return false
  }
  return true
}
