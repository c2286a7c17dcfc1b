import { readFileSync } from 'node:fs'
import { configFile, toNodeAddress, writePrivate } from '../files/config.ts'
import type { Environment } from '../terminal/io.ts'
import { parseKeys } from './given-keys.ts'

/** The pinned keys of a node: from its first use, or from `--pin`. */
export interface KnownKeys {
  readonly keys: readonly string[]
  readonly since: string
}

/** The file with the pinned keys of nodes. */
export function knownKeysFile(env: Environment): string {
  return configFile('known-keys.json', env)
}

/** The pinned keys of a node. */
export function findKnownKeys(file: string, url: string): KnownKeys | undefined {
  const known = readKnown(file)
  const place = toNodeAddress(url)
  return Object.hasOwn(known, place) ? known[place] : undefined
}

/** Pins the keys of a node and replaces earlier ones. */
export function keepKnownKeys(file: string, url: string, known: KnownKeys): void {
  writePrivate(file, `${JSON.stringify({ ...readKnown(file), [toNodeAddress(url)]: known }, null, 2)}\n`)
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
    throw new Error(`${file} cannot be parsed. Fix it, or delete it to trust the keys of all nodes on first use again.`)
  }
}
