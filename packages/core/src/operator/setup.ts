import { RegistryError } from '@skillstead/protocol'
import type { StorageContext } from '../storage/storage-context.ts'
import { createFirstUser, isWithoutUsers, toSetUpError } from '../accounts/users.ts'
import type { CallOptions } from '../kernel/call-options.ts'
import type { Caller } from '../kernel/caller.ts'
import type { Input } from '../kernel/operation-input.ts'
import type { OperatorContext } from './operator-context.ts'

/** Key that counts the setup attempts of all addresses together. Attempts are also limited per address. */
const allAddresses = 'everyone'

/** GET /setup: `needed` is true as long as no user can sign in. */
export async function showSetup({ database }: StorageContext): Promise<{ needed: boolean }> {
  return { needed: await isWithoutUsers(database.read) }
}

/**
 * POST /setup: creates the first user, an administrator, for a caller with the code that the node printed. Throws
 * `conflict` once there is a user, `forbidden` for a wrong code, `rate_limited` after many wrong codes.
 */
export async function setUp(
  context: OperatorContext,
  { code, username }: Input<'setUp'>,
  caller: Caller,
  options: CallOptions = {},
) {
  if (!(await isWithoutUsers(context.database.read))) throw toSetUpError()
  await context.addressLimits.require('setup', options.address)
  // Other callers used up the total limit, so even the right code is refused. The error names other ways to set up
  // the node.
  if (!(await context.addressLimits.take('setups', allAddresses)))
    throw new RegistryError(
      'rate_limited',
      'Too many codes were tried in the last hour, from many addresses. Restart the node for a new code, or create the ' +
        'first user on the machine: skillstead users create NAME.',
      { retryAfterSeconds: 3600, allowance: 'setups' },
    )
  if (!(await context.setup.matches(code))) {
    throw new RegistryError('forbidden', 'The setup code is wrong. The node prints the code when it starts.')
  }
  const { key, ...user } = await createFirstUser(context, username, caller)
  return { user, key }
}
