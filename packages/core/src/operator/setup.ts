import { RegistryError } from '@skillstead/protocol'
import { createFirstUser, isWithoutUsers, toSetUpError } from '../accounts/users.ts'
import type { Caller } from '../caller.ts'
import type { CallOptions, Context } from '../context.ts'

/** Guesses are bounded by the address, and all of them together. */
const everybody = 'everybody'

/** GET /setup: whether there is nobody yet who could sign in. */
export async function showSetup({ database }: Context): Promise<{ needed: boolean }> {
  return { needed: await isWithoutUsers(database.read) }
}

/**
 * POST /setup: the first user, an administrator, for whoever has the code that the node printed. Throws `conflict` once
 * there is a user, `forbidden` for a wrong code, `rate_limited` after many of them.
 */
export async function setUp(
  context: Context,
  { code, username }: { code: string; username: string },
  caller: Caller,
  options: CallOptions = {},
) {
  if (!(await isWithoutUsers(context.database.read))) throw toSetUpError()
  await context.addressLimits.require('setup', options.address)
  await context.addressLimits.require('setups', everybody)
  if (!context.setup.matches(code)) {
    throw new RegistryError('forbidden', 'This is not the code. The node prints it when it starts.')
  }
  const { key, ...user } = await createFirstUser(context, username, caller)
  return { user, key }
}
