import { createHash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const bodyLength = 32
const checksumLength = 6
const keyPattern = /^ssk_[0-9A-Za-z]{38}$/

/** How much of a key is kept to recognise it by. */
export const prefixLength = 8

/** A new key: `ssk_`, 32 random base62 characters (190 bits), and a checksum that lets scanners tell it from noise. */
export function createKey(): string {
  const body = Array.from({ length: bodyLength }, () => alphabet[randomInt(alphabet.length)]).join('')
  return `ssk_${body}${toChecksum(body)}`
}

/** Whether a text can be a key at all, without asking the database. */
export function isKey(text: string): boolean {
  if (!keyPattern.test(text)) return false
  const body = text.slice(4, 4 + bodyLength)
  return toChecksum(body) === text.slice(4 + bodyLength)
}

/** What is stored of a key. Plain SHA-256 is enough for 190 random bits; slow hashes are for guessable secrets. */
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
