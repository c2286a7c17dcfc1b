import { bytesToHex } from '@noble/hashes/utils.js'
import { sha256 } from '@noble/hashes/sha2.js'

/** Decodes padded standard base64; undefined for any other text, including non-canonical encodings. */
export function fromBase64(text: string): Uint8Array | undefined {
  try {
    const binary = atob(text)
    return btoa(binary) === text ? Uint8Array.from(binary, (character) => character.charCodeAt(0)) : undefined
  } catch {
    return undefined
  }
}

export function toBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
}

/** `sha256:` and the hash in lower-case hexadecimal. */
export function toDigest(bytes: Uint8Array): string {
  return `sha256:${bytesToHex(sha256(bytes))}`
}
