import { createHash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const bodyLength = 32
const checksumLength = 6
const keyPattern = /^ssk_[0-9A-Za-z]{38}$/

/** Number of characters of a key that are stored in the clear, to recognise it in lists. */
export const prefixLength = 8

/**
 * Creates a key: `ssk_`, 32 random base62 characters (190 bits), and a checksum by which secret scanners recognise
 * keys.
 */
export function createKey(): string {
  const body = Array.from({ length: bodyLength }, () => alphabet[randomInt(alphabet.length)]).join('')
  return `ssk_${body}${toChecksum(body)}`
}

/** Whether a text has the form and checksum of a key; needs no database. */
export function isKey(text: string): boolean {
  if (!keyPattern.test(text)) return false
  const body = text.slice(4, 4 + bodyLength)
  return toChecksum(body) === text.slice(4 + bodyLength)
}

/** The stored hash of a key. Plain SHA-256 is enough for 190 random bits; slow hashes are for guessable secrets. */
export function hashKey(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}

function toChecksum(body: string): string {
  let rest = crc32(body)
  let text = ''
  for (let i = 0; i < checksumLength; i++) {
    text = alphabet[rest % alphabet.length] + text
    rest = Math.floor(rest / alphabet.length)
  }
  return text
}
