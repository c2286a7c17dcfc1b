import { closeSync, existsSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { getRawAsset } from 'node:sea'
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads'

/** Under which threads are told where the addon is. */
const key = 'skillstead.sqlite-addon'

let addon: object | undefined

/**
 * The addon of better-sqlite3. A library is loaded from a file, so that it is written into a new folder that nobody
 * else may enter, and is gone from there before it is used.
 *
 * A process may have it only once: a second copy of SQLite would not know of the locks that the first holds, and release
 * them by closing a file (sqlite.org/howtocorrupt.html, 2.2.1). So threads load the very file that the process loaded.
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
    'The database library cannot be loaded. Set TMPDIR to a folder that this user may write, on a disk that is not ' +
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
 * Linux finds a file that has no name any more by a descriptor, which stays open for the threads. It is never looked for
 * by its name: whoever owns the folder around could have put another one there.
 */
function openUnnamed(written: number, remove: () => void): object {
  remove()
  const descriptor = openSync(`/proc/self/fd/${written}`, 'r')
  try {
    return load(`/proc/self/fd/${descriptor}`)
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

/** Elsewhere it has its name until the process ends. */
function openNamed(file: string, remove: () => void): object {
  process.once('exit', remove)
  return load(file)
}

function load(path: string): object {
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
  throw new Error('A thread that opens a database must be one of `databaseThreads`.')
}
