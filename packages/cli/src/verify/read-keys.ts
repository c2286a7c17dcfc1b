import { existsSync, readFileSync, statSync } from 'node:fs'
import { toOneLine } from '@skillstead/protocol'
import { parseVerifierKey, VerificationError } from '@skillstead/client/verify'
import { UsageError } from '../command/command.ts'
import { configFile, toNodeAddress, writePrivate } from '../files/config.ts'
import { requireOwn } from '../files/file-access.ts'
import type { Environment } from '../terminal/io.ts'

/**
 * The verifier keys of an option: a single key, or a file in the format of `skillstead key`. Throws {@link UsageError}.
 */
export function readGivenKeys(given: string): string[] {
  if (given.startsWith('ssk_'))
    throw new UsageError('--key takes the public key of a node. Pass an API key with --api-key or SKILLSTEAD_KEY.')
  const isFile = existsSync(given) && statSync(given).isFile()
  if (!isFile && !given.includes('+'))
    throw new UsageError(
      `'${given}' is neither a verifier key nor a file with such keys. Pass what \`skillstead key\` prints.`,
    )
  const keys = parseKeys(isFile ? readFileSync(given, 'utf8') : given)
  if (keys.length === 0) throw new UsageError(`'${given}' contains no verifier keys.`)
  return keys
}

/** Parses verifier keys, one per line; lines that begin with `#` are comments. Throws {@link UsageError}. */
export function parseKeys(text: string): string[] {
  const keys = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
  try {
    keys.forEach(parseVerifierKey)
  } catch (error) {
    throw error instanceof VerificationError ? new UsageError(toOneLine(error.message)) : error
  }
  return keys
}

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
  const stats = statSync(file, { throwIfNoEntry: false })
  if (!stats) return {}
  requireOwn(file, stats)
  const text = readFileSync(file, 'utf8')
  try {
    const known: Record<string, KnownKeys> = JSON.parse(text)
    for (const { keys } of Object.values(known)) parseKeys(keys.join('\n'))
    return known
  } catch {
    throw new Error(`${file} cannot be parsed. Fix it, or delete it to trust the keys of all nodes on first use again.`)
  }
}
