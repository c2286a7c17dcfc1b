import { hash } from 'node:crypto'

/** `sha256:` and the hash in lower-case hexadecimal. */
export function toDigest(bytes: Uint8Array | string): string {
  return `sha256:${hash('sha256', bytes)}`
}
