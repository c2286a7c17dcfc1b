import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/**
 * Creates a secret that is shown once: 256 random bits after a prefix that names the purpose of the secret. Returns
 * also the hash to store.
 */
export function createToken(prefix: string): { token: string; hash: string } {
  const token = `${prefix}_${randomBytes(32).toString('base64url')}`
  return { token, hash: hashToken(token) }
}

/** Plain SHA-256 is enough for a secret with 256 random bits. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

/** Whether a token matches a stored hash. Compares in constant time. */
export function isTokenOf(hash: string, token: string): boolean {
  return timingSafeEqual(Buffer.from(hashToken(token), 'hex'), Buffer.from(hash, 'hex'))
}
