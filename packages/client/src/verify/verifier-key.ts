import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, concatBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import { fromBase64, toBase64 } from './bytes.ts'
import { VerificationError } from './verification-error.ts'

/** A public key that verifies signed notes (C2SP `signed-note`). */
export interface VerifierKey {
  /** The name of the signing node. */
  readonly name: string
  /** The first four bytes of SHA-256 over name, line break, algorithm and key, in hexadecimal. */
  readonly hash: string
  readonly publicKey: Uint8Array
}

/** The signature type of Ed25519 in signed notes. */
const algorithm = 0x01
const keyBytes = 32

/**
 * Parses a verifier key as printed by `skillstead key`: `<name>+<hash>+<base64 of the algorithm and the key>`.
 *
 * @throws {VerificationError} for an invalid key, and for a key that does not match its hash.
 */
export function parseVerifierKey(text: string): VerifierKey {
  const [, name, hash, encoded] = /^([^\s+\p{C}]+)\+([0-9a-f]{8})\+(\S+)$/u.exec(text) ?? []
  const bytes = encoded === undefined ? undefined : fromBase64(encoded)
  if (name === undefined || hash === undefined || bytes === undefined)
    throw new VerificationError('key', `'${shortenKey(text)}' is not a verifier key of the form NAME+HASH+BASE64.`)
  if (bytes.length !== keyBytes + 1 || bytes[0] !== algorithm)
    throw new VerificationError('key', `The key ${name}+${hash} is not an Ed25519 key.`)
  const actual = toKeyHash(name, bytes)
  if (actual !== hash)
    throw new VerificationError(
      'key',
      `The key of ${name} has the hash ${actual}, not ${hash}: it was altered. Copy it again.`,
    )
  return { name, hash, publicKey: bytes.subarray(1) }
}

/** Encodes a public key of Ed25519 as a verifier key, which {@link parseVerifierKey} parses. */
export function toVerifierKey(name: string, publicKey: Uint8Array): string {
  const key = concatBytes(Uint8Array.of(algorithm), publicKey)
  return `${name}+${toKeyHash(name, key)}+${toBase64(key)}`
}

/** The hash that distinguishes keys of the same name; `key` begins with its algorithm byte. */
export function toKeyHash(name: string, key: Uint8Array): string {
  return bytesToHex(sha256(concatBytes(utf8ToBytes(`${name}\n`), key)).subarray(0, 4))
}

function shortenKey(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
