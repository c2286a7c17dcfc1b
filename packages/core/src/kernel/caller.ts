import { RegistryError, type PlanName, type Scope } from '@skillstead/protocol'

/** What a link lets its holder read besides. */
interface LinkHolder {
  readonly sharedSkillId?: string
}

/** Nobody in particular: everything public, nothing else. */
export interface Guest extends LinkHolder {
  readonly kind: 'guest'
}

/** A signed-in user, with what the key in use allows. */
export interface UserCaller extends LinkHolder {
  readonly kind: 'user'
  readonly userId: string
  readonly username: string
  readonly plan: PlanName
  readonly role: 'user' | 'admin'
  readonly scopes: readonly Scope[]
  /** The key that the caller came with; absent for sessions, and for callers made inside the process. */
  readonly keyId?: string
}

/** Who asks. Every rule about what may be seen or done takes one of these. */
export type Caller = Guest | UserCaller

export const guest: Guest = { kind: 'guest' }

/** Whether the caller sees what is public and nothing else, so that what is made for one serves all of them. */
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

/** Throws `forbidden` where the key in use does not have a scope. */
export function requireScope({ scopes }: UserCaller, scope: Scope): void {
  if (!scopes.includes(scope))
    throw new RegistryError('forbidden', `This key has no scope '${scope}'. Use one that has it.`)
}

/** The account that the caller acts from, by its id; null for a guest and for the operator, who have none. */
export function accountId(caller: Caller): string | null {
  return isOperator(caller) ? null : callerId(caller)
}

/** Narrows to a caller with an account; throws `unauthorized` for a guest, `forbidden` for the operator. */
export function requireAccount(caller: Caller): UserCaller {
  const user = requireUser(caller)
  if (isOperator(user)) throw new RegistryError('forbidden', 'The operator has no account of its own; act as a user.')
  return user
}

function isOperator(caller: Caller): boolean {
  return callerId(caller) === systemCaller.userId
}

/**
 * The operator at the machine itself: commands on a data folder act as this. It decides what administrators decide,
 * owns nothing and cannot sign in: it is no row of `users`, so what belongs to somebody needs {@link requireAccount}.
 */
export const systemCaller: UserCaller = {
  kind: 'user',
  userId: '00000000-0000-0000-0000-000000000000',
  username: 'system',
  plan: 'enterprise',
  role: 'admin',
  scopes: ['read', 'publish', 'manage'],
}
