import { createHash } from 'node:crypto'

/** `sha256:` and the hash in lower-case hexadecimal. */
export function toDigest(bytes: Uint8Array | string): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}
