import { RegistryError } from '@skillstead/protocol'
import { createFirstUser, isWithoutUsers, toSetUpError } from '../accounts/users.ts'
import type { Caller } from '../kernel/caller.ts'
import type { CallOptions } from '../kernel/call-options.ts'
import type { OperatorContext } from './operator-context.ts'

/** Guesses are bounded by the address, and all of them together. */
const everybody = 'everybody'

/** GET /setup: whether there is nobody yet who could sign in. */
export async function showSetup({ database }: OperatorContext): Promise<{ needed: boolean }> {
  return { needed: await isWithoutUsers(database.read) }
}

/**
 * POST /setup: the first user, an administrator, for whoever has the code that the node printed. Throws `conflict` once
 * there is a user, `forbidden` for a wrong code, `rate_limited` after many of them.
 */
export async function setUp(
  context: OperatorContext,
  { code, username }: { code: string; username: string },
  caller: Caller,
  options: CallOptions = {},
) {
  if (!(await isWithoutUsers(context.database.read))) throw toSetUpError()
  await context.addressLimits.require('setup', options.address)
  if (!(await context.addressLimits.take('setups', everybody))) throw toBesieged()
  if (!(await context.setup.matches(code))) {
    throw new RegistryError('forbidden', 'This is not the code. The node prints it when it starts.')
  }
  const { key, ...user } = await createFirstUser(context, username, caller)
  return { user, key }
}

/** Strangers used up what all may try, and the right code is refused with the wrong ones: there are other ways in. */
function toBesieged(): RegistryError {
  return new RegistryError(
    'rate_limited',
    'Too many codes were tried in the last hour, from many addresses. Start the node again for a new code, or make the ' +
      'first user at the machine: skillstead users create NAME.',
    { retryAfterSeconds: 3600, allowance: 'setups' },
  )
}
