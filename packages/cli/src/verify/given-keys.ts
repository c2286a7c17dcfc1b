import { existsSync, readFileSync, statSync } from 'node:fs'
import { VerificationError, parseVerifierKey } from '@skillstead/client/verify'
import { UsageError } from '../command/command.ts'
import { toOneLine } from '../terminal/output.ts'

/**
 * The verifier keys of an option: a single key, or a file in the format of `skillstead key`. Throws {@link UsageError}.
 */
export function readGivenKeys(given: string): string[] {
  if (given.startsWith('ssk_'))
    throw new UsageError('--key takes the public key of a node. Pass an API key with --api-key or SKILLSTEAD_KEY.')
  const isFile = existsSync(given) && statSync(given).isFile()
  if (!isFile && !given.includes('+'))
    throw new UsageError(`'${given}' is neither a verifier key nor a file with such keys.`)
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
