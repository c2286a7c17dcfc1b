import { RegistryError, scopes } from '@skillstead/protocol'
import { type Caller, requireAccount, requireUser, type UserCaller } from '../kernel/caller.ts'
import type { StorageContext } from '../storage/storage-context.ts'
import type { UserRow } from '../storage/tables.ts'

/** Finds a user or an organisation by name; throws `not_found`. */
export async function getUserByName(context: StorageContext, username: string): Promise<UserRow> {
  const user = await context.database.read
    .selectFrom('users')
    .selectAll()
    .where('username', '=', username)
    .executeTakeFirst()
  if (!user) throw new RegistryError('not_found', `There is no user '${username}'.`)
  return user
}

/** As {@link getUserByName}, but throws `conflict` for an organisation. */
export async function getPerson(context: StorageContext, username: string): Promise<UserRow> {
  const user = await getUserByName(context, username)
  if (user.kind === 'user') return user
  throw new RegistryError('conflict', `${username} is an organisation. Name one of its members instead.`)
}

/**
 * As {@link getPerson}, but throws `conflict` for a name that no user has claimed, such as that of an imported author.
 */
export async function getClaimedPerson(context: StorageContext, username: string): Promise<UserRow> {
  const user = await getPerson(context, username)
  if (user.claimed) return user
  throw new RegistryError('conflict', `${user.username} is the name of an imported author, not of a user. Name a user.`)
}

/**
 * The user whose keys or sessions a call is about: the caller, or the user whom an administrator names. Throws
 * `forbidden` if another caller names a user.
 */
export async function findAccount(
  context: StorageContext,
  username: string | undefined,
  caller: Caller,
): Promise<Pick<UserRow, 'id' | 'username'>> {
  if (username === undefined || (caller.kind === 'user' && caller.username === username)) {
    const { userId, username: own } = requireAccount(caller)
    return { id: userId, username: own }
  }
  if (requireUser(caller).role === 'admin') return getPerson(context, username)
  throw new RegistryError('forbidden', 'Only administrators may see keys and sessions of other users.')
}

/**
 * Returns a user as a caller without credentials, for trusted code inside the process. Throws `not_found`, and
 * `conflict` for an organisation.
 */
export async function getCaller(context: StorageContext, username: string): Promise<UserCaller> {
  const { id, plan, role } = await getPerson(context, username)
  return { kind: 'user', userId: id, username, plan, role, scopes }
}
