import { readFileSync } from 'node:fs'
import { configFile, toNodeAddress, writePrivate } from '../config.ts'
import type { Environment } from '../io.ts'
import { parseKeys } from './given-keys.ts'

/** The keys of a node as they were when they were first seen, or taken on purpose. */
export interface KnownKeys {
  readonly keys: readonly string[]
  readonly since: string
}

/** Where the keys of nodes are kept that a user has met. */
export function knownKeysFile(env: Environment): string {
  return configFile('known-keys.json', env)
}

/** What is known of the node at an address. */
export function findKnownKeys(file: string, url: string): KnownKeys | undefined {
  const known = readKnown(file)
  const place = toNodeAddress(url)
  return Object.hasOwn(known, place) ? known[place] : undefined
}

/** Keeps the keys of the node at an address, in place of those that were known. */
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
    throw new Error(`${file} cannot be read. Mend it, or delete it to meet every node anew.`)
  }
}
