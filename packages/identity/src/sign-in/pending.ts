import type { Secrets } from '@skillstead/core/internal'
import { isRegistryError, RegistryError } from '@skillstead/protocol'
import type { Checks } from './provider.ts'

/** A sign-in that waits for the answer of the provider. Stored only in an encrypted cookie of the browser. */
export interface PendingSignIn extends Checks {
  /** The page to open after the sign-in, as a path below the node. */
  readonly next: string
  /** When the sign-in expires, in milliseconds since 1970. */
  readonly endsAt: number
}

/** How long the user may take to sign in at the provider, including a second factor. */
export const pendingMs = 10 * 60_000

/** Encrypts a pending sign-in for a cookie. Throws `conflict` on a node without a secret key. */
export function sealPending(secrets: Secrets, pending: PendingSignIn): string {
  return Buffer.from(secrets.seal(JSON.stringify(pending))).toString('base64url')
}

/** Decrypts the cookie of a pending sign-in. Throws `forbidden` without a valid cookie of this node. */
export function openPending(secrets: Secrets, cookie: string | undefined, now: number): PendingSignIn {
  const pending = cookie === undefined ? undefined : readPending(secrets, cookie)
  if (pending && now < pending.endsAt && pending.endsAt <= now + pendingMs) return pending
  throw new RegistryError(
    'forbidden',
    'This browser began no sign-in in the last 10 minutes, or has finished it. Sign in again.',
  )
}

function readPending(secrets: Secrets, cookie: string): PendingSignIn | undefined {
  try {
    return JSON.parse(secrets.open(Buffer.from(cookie, 'base64url')))
  } catch (error) {
    if (isRegistryError(error, 'conflict')) return undefined
    throw error
  }
}

/** The page to open after a sign-in; `/` unless `next` is a path below the node, so that no link opens another site. */
export function toLocalPath(next: string | null): string {
  const base = 'http://node.invalid'
  const url = next?.startsWith('/') ? URL.parse(next, base) : null
  if (url?.origin !== base || url.pathname.startsWith('//')) return '/'
  return url.pathname + url.search
}
