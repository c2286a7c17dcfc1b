import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseKeys } from './given-keys.ts'

/** The keys of a node as they were when they were first seen, or taken on purpose. */
export interface KnownKeys {
  readonly keys: readonly string[]
  readonly since: string
}

/** Where the keys of nodes are kept that a user has met. */
export function knownKeysFile(env: NodeJS.ProcessEnv = process.env): string {
  const folder = env.XDG_CONFIG_HOME || (process.platform === 'win32' && env.APPDATA) || join(homedir(), '.config')
  return join(folder, 'skillstead', 'known-keys.json')
}

/** What is known of the node at an address. */
export function findKnownKeys(file: string, url: string): KnownKeys | undefined {
  const known = readKnown(file)
  const place = toPlace(url)
  return Object.hasOwn(known, place) ? known[place] : undefined
}

/** Keeps the keys of the node at an address, in place of those that were known. */
export function keepKnownKeys(file: string, url: string, known: KnownKeys): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const text = JSON.stringify({ ...readKnown(file), [toPlace(url)]: known }, null, 2)
  // A whole file or none: half of one would make every node a stranger again.
  const written = `${file}.${process.pid}`
  writeFileSync(written, `${text}\n`, { mode: 0o600 })
  renameSync(written, file)
}

function readKnown(file: string): Record<string, KnownKeys> {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw error
  }
  try {
    const known = JSON.parse(text) as Record<string, KnownKeys>
    for (const { keys } of Object.values(known)) parseKeys(keys.join('\n'))
    return known
  } catch {
    throw new Error(`${file} cannot be read. Mend it, or delete it to meet every node anew.`)
  }
}

/** One node is one place, however its address was typed. */
function toPlace(url: string): string {
  const { origin, pathname } = new URL(url)
  return origin + pathname.replace(/\/+$/, '').replace(/\/api\/v1$/, '')
}
