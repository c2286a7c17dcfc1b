import { RegistryError, type PlanName, type PublisherIdentity, type Scope } from '@skillstead/protocol'

/** Access that a share link grants in addition to the caller's own access. */
interface LinkHolder {
  readonly sharedSkillId?: string
}

/** An unauthenticated caller: may read what is public. */
export interface Guest extends LinkHolder {
  readonly kind: 'guest'
}

/** A signed-in user, and the permissions of the key in use. */
export interface UserCaller extends LinkHolder {
  readonly kind: 'user'
  readonly userId: string
  readonly username: string
  readonly plan: PlanName
  readonly role: 'user' | 'admin'
  readonly scopes: readonly Scope[]
  /** Id of the API key that the caller sent. Absent for sessions and for callers created inside the process. */
  readonly keyId?: string
  /**
   * Id of the API key behind the call: the one that the caller sent, or the one that opened the caller's session. Share
   * links, API keys and sessions that the caller makes expire no later than this key. Absent for callers created inside
   * the process.
   */
  readonly makerId?: string
  /** Id of the caller's session. */
  readonly sessionId?: string
  /** The owner, or the full names of skills, separated by spaces, that the key is limited to. */
  readonly limitedTo?: string
  /** The CI identity that the key was issued to; the caller then owns the skills that the key may publish. */
  readonly identity?: PublisherIdentity
}

/** The caller of an operation. Every access check takes a caller. */
export type Caller = Guest | UserCaller

/**
 * The caller who is not signed in.
 *
 * @example
 * const { skills } = await localApi(registry, guest).searchSkills({ q: 'pdf' })
 */
export const guest: Guest = { kind: 'guest' }

/** Whether the caller may read only public content, so that one cached response serves all such callers. */
export function seesPublicOnly(caller: Caller): boolean {
  return caller.kind === 'guest' && caller.sharedSkillId === undefined
}

/** The caller's user id, or null for a guest. */
export function callerId(caller: Caller): string | null {
  return caller.kind === 'user' ? caller.userId : null
}

/** Narrows to a signed-in caller; throws `unauthorized` for a guest. */
export function requireUser(caller: Caller): UserCaller {
  if (caller.kind === 'guest') {
    throw new RegistryError('unauthorized', 'Send an API key: `Authorization: Bearer ssk_...`.')
  }
  return caller
}

/** Throws `forbidden` if the caller's key lacks the scope. */
export function requireScope({ scopes }: UserCaller, scope: Scope): void {
  if (!scopes.includes(scope))
    throw new RegistryError('forbidden', `This key has no scope '${scope}'. Use a key with the scope.`)
}

/** The id of the caller's account; null for a guest and for the operator, which have none. */
export function accountId(caller: Caller): string | null {
  return isOperator(caller) ? null : callerId(caller)
}

/** Narrows to a caller with an account; throws `unauthorized` for a guest, `forbidden` for the operator. */
export function requireAccount(caller: Caller): UserCaller {
  const user = requireUser(caller)
  if (isOperator(user)) throw new RegistryError('forbidden', 'The operator has no user account. Act as a user.')
  return user
}

function isOperator(caller: Caller): boolean {
  return callerId(caller) === systemCaller.userId
}

/**
 * The operator of the node: CLI commands that open a data folder run as this caller. The operator has the rights of an
 * administrator, owns nothing, cannot sign in and has no row in `users`, so operations that need an owner call {@link
 * requireAccount}.
 *
 * @example
 * await localApi(registry, systemCaller).createUser({ username: 'alice' })
 */
export const systemCaller: UserCaller = {
  kind: 'user',
  userId: '00000000-0000-0000-0000-000000000000',
  username: 'system',
  plan: 'enterprise',
  role: 'admin',
  scopes: ['read', 'publish', 'manage'],
}
