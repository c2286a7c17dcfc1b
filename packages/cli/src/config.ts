import { mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Environment } from './io.ts'
import { writeWhole } from './write-whole.ts'

/** The home folder that an environment names, or that of the user. */
export function homeFolder(env: Environment): string {
  return env[process.platform === 'win32' ? 'USERPROFILE' : 'HOME'] || homedir()
}

/** A file of ours in the folder where programs keep what belongs to a user. */
export function configFile(name: string, env: Environment): string {
  const folder =
    env['XDG_CONFIG_HOME'] || (process.platform === 'win32' && env['APPDATA']) || join(homeFolder(env), '.config')
  return join(folder, 'skillstead', name)
}

/** Writes a file that is for its user alone: a whole one or none, for half of one would be nothing that can be read. */
export function writePrivate(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeWhole(file, text, 0o600)
}

/** One node is one place, however its address was typed. */
export function toNodeAddress(url: string): string {
  const { origin, pathname } = new URL(url)
  return origin + pathname.replace(/\/+$/, '').replace(/\/api\/v1$/, '')
}
