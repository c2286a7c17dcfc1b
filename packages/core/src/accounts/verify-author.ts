import { randomBytes } from 'node:crypto'
import { RegistryError, allowances, type Verification } from '@skillstead/protocol'
import { dayMs } from '../kernel/clock.ts'
import type { Input } from '../kernel/operation-input.ts'
import { getUserByName } from './find-user.ts'
import { requireUser, type Caller } from '../kernel/caller.ts'
import type { AccountsContext } from './accounts-context.ts'
import { newId } from '../kernel/ids.ts'
import type { VerificationRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { enqueueCheck } from './verification-check.ts'
import { type ProofMethod, normalizeProof, toVerification, toWellKnown } from './verification-form.ts'

/**
 * Maximum number of verifications that a user may begin per day. Each is stored, and requests a URL that the user
 * chose.
 */
const perDayMax = allowances.verification.limit

/**
 * POST /users/<username>/verify, for the caller's own account. Sending the same proof again requests another check;
 * another proof replaces the pending proof of that method. Throws `forbidden`, `invalid_request` that names the proof,
 * `rate_limited`.
 */
export async function verifyAuthor(
  context: AccountsContext,
  input: Input<'verifyAuthor'>,
  caller: Caller,
): Promise<Verification> {
  const { id: userId, username } = await getUserByName(context, input.username)
  if (userId !== requireUser(caller).userId)
    throw new RegistryError('forbidden', `Only ${username} may request the verification of this account.`)
  const { method } = input
  const proof = normalizeProof(method, input.proof)
  if (method === 'domain') await context.outgoing.requirePublic(toWellKnown(proof), 'proof')
  const row = await context.database.writer.write(async (trx) => {
    const rows = await trx.selectFrom('verifications').selectAll().where('user_id', '=', userId).execute()
    const same = rows.find((each) => each.method === method && each.proof === proof && each.status !== 'rejected')
    const found = same ?? (await beginVerification(context, trx, { userId, username, method, proof, rows }))
    if (found.status === 'pending') await enqueueCheck(context, trx, found, { again: same !== undefined })
    return found
  })
  return toVerification(row)
}

async function beginVerification(
  context: AccountsContext,
  trx: WriteTransaction,
  wanted: {
    userId: string
    username: string
    method: ProofMethod
    proof: string
    rows: readonly VerificationRow[]
  },
): Promise<VerificationRow> {
  const { userId, username, method, proof, rows } = wanted
  const now = context.clock.now()
  refuseTooManyVerifications(rows, now)
  const row: VerificationRow = {
    id: newId(),
    user_id: userId,
    method,
    proof,
    token: findProofToken(rows, method, proof) ?? createProofToken(username, context.origin),
    status: 'pending',
    note: '',
    checked_at: null,
    asked: 0,
    answered: 0,
    created_at: now,
  }
  await trx
    .updateTable('verifications')
    .set({ status: 'rejected', note: 'Replaced by another proof.' })
    .where('user_id', '=', userId)
    .where('method', '=', method)
    .where('status', '=', 'pending')
    .execute()
  await trx.insertInto('verifications').values(row).execute()
  return row
}

function refuseTooManyVerifications(rows: readonly VerificationRow[], now: number): void {
  const begun = rows.map((row) => row.created_at).filter((at) => at > now - dayMs)
  if (begun.length < perDayMax) return
  const retryAfterSeconds = Math.ceil((Math.min(...begun) + dayMs - now) / 1000)
  throw new RegistryError('rate_limited', `A user may begin at most ${perDayMax} verifications per day.`, {
    retryAfterSeconds,
    allowance: 'verification',
  })
}

/**
 * Finds the token of the user's pending verifications, which share one token. The token of an earlier verification of
 * the same proof is not reused, because it may still be published there.
 */
function findProofToken(rows: readonly VerificationRow[], method: ProofMethod, proof: string): string | undefined {
  const former = new Set(rows.filter((row) => row.method === method && row.proof === proof).map(({ token }) => token))
  return rows.find(({ status, token }) => status === 'pending' && !former.has(token))?.token
}

/** The token is no secret: it is published, and names the user and the node that it is for. */
function createProofToken(username: string, origin: string): string {
  return `skillstead-verify=${username}@${origin}:${randomBytes(16).toString('base64url')}`
}
