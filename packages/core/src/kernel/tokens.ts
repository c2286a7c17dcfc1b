import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** A secret that is shown once: 256 random bits after a prefix that tells what it is for, and its hash to store. */
export function createToken(prefix: string): { token: string; hash: string } {
  const token = `${prefix}_${randomBytes(32).toString('base64url')}`
  return { token, hash: hashToken(token) }
}

/** SHA-256 is enough for a secret that nobody can guess. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

/** Whether a token is the one of a stored hash; takes the same time whether it is or not. */
export function isTokenOf(hash: string, token: string): boolean {
  return timingSafeEqual(Buffer.from(hashToken(token), 'hex'), Buffer.from(hash, 'hex'))
}
