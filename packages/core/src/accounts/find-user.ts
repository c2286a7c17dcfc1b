import { RegistryError } from '@skillstead/protocol'
import type { AccountsContext } from './accounts-context.ts'
import type { UserRow } from '../storage/tables.ts'

/** Finds a user by name; throws `not_found`. */
export async function getUserByName(context: AccountsContext, username: string): Promise<UserRow> {
  const user = await context.database.read
    .selectFrom('users')
    .selectAll()
    .where('username', '=', username)
    .executeTakeFirst()
  if (!user) throw new RegistryError('not_found', `There is no user '${username}'.`)
  return user
}
