import { closeSync, existsSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { getRawAsset } from 'node:sea'
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads'

/** The key under which threads receive the location of the addon. */
const key = 'skillstead.sqlite-addon'

let addon: object | undefined

/**
 * Loads the addon of better-sqlite3. A native library must be loaded from a file, so it is written to a new private
 * folder and deleted before it is used.
 *
 * A process may load the addon only once: a second copy of SQLite would not know the locks of the first, and would
 * release them by closing a file (sqlite.org/howtocorrupt.html, 2.2.1). So threads load the same file as the process.
 */
export function openAddon(): object {
  return (addon ??= isMainThread ? openFirst() : loadLibrary(requirePath()))
}

function openFirst(): object {
  const failures: string[] = []
  for (const parent of new Set([tmpdir(), '/dev/shm', '.'])) {
    try {
      return openIn(parent)
    } catch (error) {
      failures.push(`${parent}: ${(error as Error).message}`)
    }
  }
  throw new Error(
    'The database library cannot be loaded. Set TMPDIR to a writable folder on a disk that is not ' +
      `mounted noexec. ${failures.join('; ')}`,
  )
}

function openIn(parent: string): object {
  const folder = mkdtempSync(join(parent, 'skillstead-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  const file = join(folder, 'better_sqlite3.node')
  try {
    const descriptor = openSync(file, 'wx', 0o600)
    try {
      writeFileSync(descriptor, new Uint8Array(getRawAsset('better_sqlite3.node')))
      if (existsSync('/proc/self/fd')) return openUnnamed(descriptor, remove)
    } finally {
      closeSync(descriptor)
    }
    return openNamed(resolve(file), remove)
  } catch (error) {
    remove()
    throw error
  }
}

/**
 * On Linux a deleted file can be opened by its descriptor, which stays open for the threads. The file is never opened
 * by its name: the owner of the parent folder could have replaced it.
 */
function openUnnamed(written: number, remove: () => void): object {
  remove()
  const descriptor = openSync(`/proc/self/fd/${written}`, 'r')
  try {
    return loadAddonFile(`/proc/self/fd/${descriptor}`)
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

/** On systems other than Linux, the file is deleted only when the process ends. */
function openNamed(file: string, remove: () => void): object {
  process.once('exit', remove)
  return loadAddonFile(file)
}

function loadAddonFile(path: string): object {
  const loaded = loadLibrary(path)
  setEnvironmentData(key, path)
  return loaded
}

function loadLibrary(path: string): object {
  const module = { exports: {} }
  process.dlopen(module, path, constants.dlopen.RTLD_NOW)
  return module.exports
}

function requirePath(): string {
  const path = getEnvironmentData(key)
  if (typeof path === 'string') return path
  throw new Error(
    'This thread does not have the path of the database library. Add its name to `databaseThreads` in thread-start.ts.',
  )
}
