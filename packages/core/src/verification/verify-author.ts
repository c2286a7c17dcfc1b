import { randomBytes } from 'node:crypto'
import { RegistryError, type Verification } from '@skillstead/protocol'
import { getUserByName } from '../accounts/find-user.ts'
import { requireUser, type Caller } from '../caller.ts'
import type { Context } from '../context.ts'
import { newId } from '../ids.ts'
import type { VerificationRow } from '../storage/rows-trust.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { enqueueCheck } from './check.ts'
import { normalizeProof, toWellKnown, type Method } from './proofs.ts'
import { toVerification } from './verification-form.ts'

/**
 * POST /users/<username>/verify, for oneself. The same proof again is the same verification, looked at once more; another
 * one takes the place of what is pending by that method. Throws `forbidden`, and `invalid_request` that names the proof.
 */
export async function verifyAuthor(
  context: Context,
  input: { username: string; method: Method; proof: string },
  caller: Caller,
): Promise<Verification> {
  const { id: userId, username } = await getUserByName(context, input.username)
  if (userId !== requireUser(caller).userId)
    throw new RegistryError('forbidden', `Only ${username} may ask for the verification of this account.`)
  const { method } = input
  const proof = normalizeProof(method, input.proof)
  if (method === 'domain') await context.outgoing.requirePublic(toWellKnown(proof), 'proof')
  const row = await context.database.writer.write(async (trx) => {
    const rows = await trx.selectFrom('verifications').selectAll().where('user_id', '=', userId).execute()
    const same = rows.find((each) => each.method === method && each.proof === proof && each.status !== 'rejected')
    const found = same ?? (await begin(context, trx, { userId, username, method, proof, rows }))
    if (found.status === 'pending') await enqueueCheck(context, trx, found, { again: same !== undefined })
    return found
  })
  return toVerification(row)
}

async function begin(
  context: Context,
  trx: WriteTransaction,
  wanted: { userId: string; username: string; method: Method; proof: string; rows: readonly VerificationRow[] },
): Promise<VerificationRow> {
  const { userId, username, method, proof, rows } = wanted
  const pending = rows.find(({ status }) => status === 'pending')
  const row: VerificationRow = {
    id: newId(),
    user_id: userId,
    method,
    proof,
    token: pending?.token ?? createProofToken(username, context.origin),
    status: 'pending',
    note: '',
    checked_at: null,
    created_at: context.clock.now(),
  }
  await trx
    .updateTable('verifications')
    .set({ status: 'rejected', note: 'Another proof took its place.' })
    .where('user_id', '=', userId)
    .where('method', '=', method)
    .where('status', '=', 'pending')
    .execute()
  await trx.insertInto('verifications').values(row).execute()
  return row
}

/** No secret: it is to be put where everybody sees it, and it says whose it is and where. */
function createProofToken(username: string, origin: string): string {
  return `skillstead-verify=${username}@${origin}:${randomBytes(16).toString('base64url')}`
}
