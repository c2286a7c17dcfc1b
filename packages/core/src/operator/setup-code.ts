import { createHash, randomInt, timingSafeEqual } from 'node:crypto'

/** Without I, L, O and U, which are read as something else (Crockford's base 32). */
const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const half = 4

/** The code that proves that the first user comes from the machine itself. */
export interface SetupCode {
  /** As it is printed: `XXXX-XXXX`. */
  readonly code: string
  /** Whether somebody typed it; case, hyphens and letters that look alike do not matter. */
  matches(typed: string): boolean
}

/** A code for this process, of 40 random bits; it is nowhere stored. */
export function createSetupCode(): SetupCode {
  const random = Array.from({ length: 2 * half }, () => letters[randomInt(letters.length)]).join('')
  const expected = hash(random)
  return {
    code: `${random.slice(0, half)}-${random.slice(half)}`,
    matches: (typed) => timingSafeEqual(hash(toPlain(typed)), expected),
  }
}

function toPlain(typed: string): string {
  return typed.toUpperCase().replaceAll(/[\s-]/g, '').replaceAll(/[IL]/g, '1').replaceAll('O', '0')
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
