import { createHash, randomInt, timingSafeEqual } from 'node:crypto'
import { RegistryError } from '@skillstead/protocol'
import { putMeta } from '../storage/meta.ts'
import type { StorageContext } from '../storage/storage-context.ts'
import { createFirstUser, isWithoutUsers, toSetUpError } from '../accounts/users.ts'
import type { CallOptions } from '../kernel/call-options.ts'
import type { Caller } from '../kernel/caller.ts'
import type { Input } from '../kernel/operation-input.ts'
import type { Database } from '../storage/database.ts'
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
  if (!(await context.addressLimits.take('setups', allAddresses))) throw toBesieged()
  if (!(await context.setup.matches(code))) {
    throw new RegistryError('forbidden', 'The setup code is wrong. The node prints the code when it starts.')
  }
  const { key, ...user } = await createFirstUser(context, username, caller)
  return { user, key }
}

/**
 * Other callers used up the total limit, so even the right code is refused. The error names other ways to set up the
 * node.
 */
function toBesieged(): RegistryError {
  return new RegistryError(
    'rate_limited',
    'Too many codes were tried in the last hour, from many addresses. Restart the node for a new code, or create the ' +
      'first user on the machine: skillstead users create NAME.',
    { retryAfterSeconds: 3600, allowance: 'setups' },
  )
}

/** Without I, L, O and U, which are easily misread (Crockford's base 32). */
const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const half = 4

/** The code that proves that the first user has access to the machine. */
export interface SetupCode {
  /** In printed form: `XXXX-XXXX`. */
  readonly code: string
  /** Whether the input is this code or that of another node. Ignores case, hyphens and similar letters. */
  matches(typed: string): Promise<boolean>
  /** Shares the code with the other nodes on the database, while there is no user. */
  share(): Promise<void>
}

/** The digests of valid codes of nodes that share a database, newest first. */
const metaKey = 'setup_codes'
/** Maximum number of stored digests: nodes may be restarted repeatedly before setup. */
const codesMax = 16

/**
 * Creates the setup code of this process, of 40 random bits. Only its digest is stored, and only on PostgreSQL, where a
 * load balancer may send a user who read the code in one node's output to another node.
 */
export function createSetupCode({ dialect, read, writer }: Database): SetupCode {
  const random = Array.from({ length: 2 * half }, () => letters[randomInt(letters.length)]).join('')
  const expected = hash(random)
  return {
    code: `${random.slice(0, half)}-${random.slice(half)}`,
    async matches(typed) {
      const given = hash(toPlain(typed))
      if (timingSafeEqual(given, expected)) return true
      if (dialect === 'sqlite') return false
      const codes = await readCodes(read)
      return codes.some((code) => timingSafeEqual(given, Buffer.from(code, 'base64')))
    },
    async share() {
      if (dialect === 'sqlite' || !(await isWithoutUsers(read))) return
      await writer.write(async (trx) => {
        const codes = [expected.toString('base64'), ...(await readCodes(trx))].slice(0, codesMax)
        await putMeta(trx, metaKey, JSON.stringify(codes))
      })
    },
  }
}

async function readCodes(db: Database['read']): Promise<string[]> {
  const row = await db.selectFrom('meta').select('value').where('key', '=', metaKey).executeTakeFirst()
  return row ? (JSON.parse(row.value) as string[]) : []
}

function toPlain(typed: string): string {
  return typed.toUpperCase().replaceAll(/[\s-]/g, '').replaceAll(/[IL]/g, '1').replaceAll('O', '0')
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
