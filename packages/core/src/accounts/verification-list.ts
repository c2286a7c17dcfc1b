import { RegistryError } from '@skillstead/protocol'
import type { StorageContext } from '../storage/storage-context.ts'
import type { Input } from '../kernel/operation-input.ts'
import { readPage } from '../storage/read-page.ts'
import { getUserByName } from './find-user.ts'
import { requireUser, type Caller } from '../kernel/caller.ts'
import type { VerificationRow } from '../storage/tables.ts'
import { type ProofMethod, toListedVerification } from './verification-form.ts'

interface Filter {
  readonly userId?: string
  readonly status?: VerificationRow['status']
  readonly method?: ProofMethod
  readonly page: number
  readonly limit: number
}

/** GET /users/<username>/verifications, newest first: for the user and for administrators. Throws `forbidden`. */
export async function listOwnVerifications(
  context: StorageContext,
  input: Input<'listOwnVerifications'>,
  caller: Caller,
) {
  const { userId, role } = requireUser(caller)
  const user = await getUserByName(context, input.username)
  if (user.id !== userId && role !== 'admin')
    throw new RegistryError('forbidden', `Only ${user.username} and administrators may see these verifications.`)
  return listFiltered(context, { ...input, userId: user.id }, 'desc')
}

/** GET /verifications, for administrators: the oldest first. */
export async function listVerifications(context: StorageContext, input: Omit<Filter, 'userId'>) {
  return listFiltered(context, input, 'asc')
}

async function listFiltered(context: StorageContext, filter: Filter, order: 'asc' | 'desc') {
  const { userId, status, method } = filter
  const matching = context.database.read
    .selectFrom('verifications')
    .$if(userId !== undefined, (select) => select.where('user_id', '=', userId!))
    .$if(status !== undefined, (select) => select.where('status', '=', status!))
    .$if(method !== undefined, (select) => select.where('method', '=', method!))
  const sorted = matching
    .innerJoin('users', 'users.id', 'verifications.user_id')
    .selectAll('verifications')
    .select('users.username')
    .orderBy('verifications.id', order)
  const { rows, paging } = await readPage(matching, sorted, filter)
  return { verifications: rows.map(toListedVerification), ...paging }
}
