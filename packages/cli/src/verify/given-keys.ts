import { existsSync, readFileSync, statSync } from 'node:fs'
import { VerificationError, parseVerifierKey } from '@skillstead/client/verify'
import { UsageError } from '../command.ts'
import { toOneLine } from '../output.ts'

/** The verifier keys that were given: one, or a file as `skillstead key` prints it. Throws {@link UsageError}. */
export function readGivenKeys(given: string): string[] {
  if (given.startsWith('ssk_'))
    throw new UsageError('--key is the public key of a node here; an API key goes into --api-key or SKILLSTEAD_KEY.')
  const isFile = existsSync(given) && statSync(given).isFile()
  if (!isFile && !given.includes('+')) throw new UsageError(`'${given}' is no verifier key, and no file of such keys.`)
  const keys = parseKeys(isFile ? readFileSync(given, 'utf8') : given)
  if (keys.length === 0) throw new UsageError(`'${given}' holds no verifier keys.`)
  return keys
}

/** The verifier keys of a text, one a line; lines that begin with `#` are words for people. Throws {@link UsageError}. */
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
