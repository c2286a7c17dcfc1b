import { mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Environment } from '../terminal/io.ts'
import { writeWhole } from './write-whole.ts'

/** The home folder of the environment. Default: the user's home folder. */
export function homeFolder(env: Environment): string {
  return env[process.platform === 'win32' ? 'USERPROFILE' : 'HOME'] || homedir()
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

/** Writes a file that only its user can read. The file is replaced atomically: half a file could not be parsed. */
export function writePrivate(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeWhole(file, text, 0o600)
}

/** Normalizes the URL of a node, so that different spellings are the same node. */
export function toNodeAddress(url: string): string {
  const { origin, pathname } = new URL(url)
  return origin + pathname.replace(/\/+$/, '').replace(/\/api\/v1$/, '')
}
