import { readErrorCode } from '@skillstead/protocol'
import { chmodSync, mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Environment } from '../terminal/io.ts'
import { writeWhole } from './write-whole.ts'

/**
 * The home folder of the environment. Default: the user's home folder, or the root folder for a user id without an
 * account, as in containers.
 */
export function homeFolder(env: Environment): string {
  const named = env[process.platform === 'win32' ? 'USERPROFILE' : 'HOME']
  if (named) return named
  try {
    return homedir()
  } catch {
    return '/'
  }
}

/** Path of a Skillstead file in the user's configuration folder. */
export function configFile(name: string, env: Environment): string {
  const folder =
    env['XDG_CONFIG_HOME'] || (process.platform === 'win32' && env['APPDATA']) || join(homeFolder(env), '.config')
  return join(folder, 'skillstead', name)
}

/** The user's cache folder; it is safe to delete at any time. */
export function cacheFolder(env: Environment): string {
  const folder =
    env['XDG_CACHE_HOME'] || (process.platform === 'win32' && env['LOCALAPPDATA']) || join(homeFolder(env), '.cache')
  return join(folder, 'skillstead')
}

/**
 * Writes a file of the configuration folder, which only its user can read. The file is replaced atomically: half a file
 * could not be parsed. Throws an error that names the folder and the variable that sets another folder.
 */
export function writePrivate(file: string, text: string): void {
  const folder = dirname(file)
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    // The folder may have been created with wider permissions before it held a secret.
    chmodSync(folder, 0o700)
    writeWhole(file, text, 0o600)
  } catch (cause) {
    if (!unwritable.has(readErrorCode(cause) ?? '')) throw cause
    const sentence = `${folder} cannot be written. Set XDG_CONFIG_HOME to a folder that this user can write.`
    throw new Error(sentence, { cause })
  }
}

const unwritable = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR'])

/** Normalizes the URL of a node, so that different spellings are the same node. */
export function toNodeAddress(url: string): string {
  const { origin, pathname } = new URL(url)
  return origin + pathname.replace(/\/+$/, '').replace(/\/api\/v1$/, '')
}
