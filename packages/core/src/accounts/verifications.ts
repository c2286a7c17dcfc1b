import { randomBytes } from 'node:crypto'
import { RegistryError, allowances } from '@skillstead/protocol'
import { dayMs, hourMs, minuteMs } from '../kernel/clock.ts'
import type { Operation, Input } from '../kernel/operation-input.ts'
import { getUserByName } from './find-user.ts'
import { requireUser } from '../kernel/caller.ts'
import type { AccountsContext } from './accounts-context.ts'
import { newId } from '../kernel/ids.ts'
import type { VerificationRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import {
  type ProofMethod,
  normalizeProof,
  toVerification,
  toWellKnown,
  toListedVerification,
} from './verification-form.ts'
import type { StorageContext } from '../storage/storage-context.ts'
import { readPage } from '../storage/read-page.ts'
import { recordAudit } from '../log/audit.ts'
import type { Outgoing } from '../http/outgoing.ts'

/**
 * Maximum number of verifications that a user may begin per day. Each verification is stored, and makes the node
 * request a URL that the user chose.
 */
const perDayMax = allowances.verification.limit

/**
 * POST /users/<username>/verify, for the caller's own account. Sending the same proof again requests another check;
 * another proof replaces the pending proof of the same method. Throws `forbidden`, `rate_limited`, and
 * `invalid_request` about the field `proof`.
 */
export const verifyAuthor: Operation<'verifyAuthor', AccountsContext> = async (context, input, caller) => {
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
 * the same proof is not reused, because it may still be published at the proof's location.
 */
function findProofToken(rows: readonly VerificationRow[], method: ProofMethod, proof: string): string | undefined {
  const former = new Set(rows.filter((row) => row.method === method && row.proof === proof).map(({ token }) => token))
  return rows.find(({ status, token }) => status === 'pending' && !former.has(token))?.token
}

/** The token is no secret: it is published, and names the user and the node that it is for. */
function createProofToken(username: string, origin: string): string {
  return `skillstead-verify=${username}@${origin}:${randomBytes(16).toString('base64url')}`
}

type Filter = Input<'listVerifications'> & { readonly userId?: string }

/** GET /users/<username>/verifications, newest first: for the user and for administrators. Throws `forbidden`. */
export const listOwnVerifications: Operation<'listOwnVerifications', StorageContext> = async (
  context,
  input,
  caller,
) => {
  const { userId, role } = requireUser(caller)
  const user = await getUserByName(context, input.username)
  if (user.id !== userId && role !== 'admin')
    throw new RegistryError('forbidden', `Only ${user.username} and administrators may see these verifications.`)
  return listFiltered(context, { ...input, userId: user.id }, 'desc')
}

/** GET /verifications, for administrators: the oldest first. */
export const listVerifications: Operation<'listVerifications', StorageContext> = async (context, input) =>
  listFiltered(context, input, 'asc')

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

type VerificationStatus = VerificationRow['status']
type VerificationDecision = 'verified' | 'rejected'

/**
 * Transitions that an administrator may make. An administrator can revoke the verification of a domain or a GitHub
 * account, but not confirm it.
 */
const decisions: Record<ProofMethod, Record<VerificationStatus, readonly VerificationDecision[]>> = {
  manual: { pending: ['verified', 'rejected'], verified: ['rejected'], rejected: ['verified'] },
  domain: { pending: [], verified: ['rejected'], rejected: [] },
  github: { pending: [], verified: ['rejected'], rejected: [] },
}

/** PATCH /verifications/<id>, for administrators. Throws `not_found` and `invalid_transition`. */
export const decideVerification: Operation<'decideVerification', AccountsContext> = async (context, input, caller) => {
  const { id, status, note } = input
  const at = context.clock.now()
  return context.database.writer.write(async (trx) => {
    const found = await trx
      .selectFrom('verifications')
      .innerJoin('users', 'users.id', 'verifications.user_id')
      .selectAll('verifications')
      .select('users.username')
      .where('verifications.id', '=', id)
      .executeTakeFirst()
    if (!found) throw new RegistryError('not_found', 'There is no verification with this id.')
    const { username, ...row } = found
    if (!decisions[row.method][row.status].includes(status)) throw refuseDecision(row, status)
    const settled = await settleVerification(context, trx, row, { status, note, at })
    const data = { id, method: row.method, from: row.status }
    await recordAudit(trx, { caller, action: `verification.${status}`, subject: username, at, data })
    return toListedVerification({ ...settled, username })
  })
}

function refuseDecision({ method, status }: VerificationRow, wanted: VerificationDecision): RegistryError {
  const open = decisions[method][status]
  const ways = open.length === 0 ? 'No decision is possible.' : `It may become: ${open.join(', ')}.`
  const detail = `A ${method} verification that is ${status} cannot become ${wanted}. ${ways}`
  return new RegistryError('invalid_transition', detail)
}

/** Sets the status to verified or rejected. Calls `onVerificationChange` if the old or the new status is verified. */
async function settleVerification(
  context: AccountsContext,
  trx: WriteTransaction,
  row: VerificationRow,
  outcome: { status: 'verified' | 'rejected'; note: string; at: number },
): Promise<VerificationRow> {
  const { status, note, at } = outcome
  const change = { status, note, checked_at: at }
  await trx.updateTable('verifications').set(change).where('id', '=', row.id).execute()
  if (status === 'verified' || row.status === 'verified') {
    await context.onVerificationChange(trx, row.user_id, at)
  }
  return { ...row, ...change }
}

const topic = 'verification'
/**
 * Delays between the scheduled checks of a proof: DNS changes may take a day to be visible. A user who waits at the
 * dashboard can request a check at once.
 */
const retryDelaysMs = [minuteMs, 5 * minuteMs, 15 * minuteMs, hourMs, 3 * hourMs, 6 * hourMs, 12 * hourMs, 24 * hourMs]

const proofBytesMax = 64 * 1024
const proofMs = 10_000

/** Checks the proofs of pending verifications when their outbox jobs are due. */
export function handleVerifications(context: AccountsContext): void {
  context.outbox.handle(topic, {
    retryDelaysMs,
    async handle({ id, again }, attempt) {
      const isLast = again !== true && attempt > retryDelaysMs.length
      const missing = await checkProof(context, String(id), isLast)
      // A check that the user requested is not retried; the scheduled retries continue.
      if (missing !== undefined && !isLast && again !== true) throw new Error(missing)
    },
    async afterwards(trx, ended) {
      const ids = ended.filter(({ state, payload }) => state === 'done' && payload.again === true)
      for (const { payload } of ids) await enqueueRequestedCheck(context, trx, String(payload.id))
    },
  })
}

/**
 * Schedules the series of checks of a pending verification, and with `again` one more check now. Manual verifications
 * are not checked: an administrator decides them.
 */
async function enqueueCheck(
  context: AccountsContext,
  trx: WriteTransaction,
  row: VerificationRow,
  { again }: { again: boolean },
): Promise<void> {
  if (row.method === 'manual') return
  const uniqueKey = `${topic}:${row.id}`
  await context.outbox.enqueue(trx, { topic, payload: { id: row.id }, uniqueKey })
  if (!again) return
  await trx
    .updateTable('verifications')
    .set((eb) => ({ asked: eb('asked', '+', 1) }))
    .where('id', '=', row.id)
    .execute()
  await enqueueSingleCheck(context, trx, row.id)
}

/**
 * Schedules another check if the user requested one during the last check, which may have run before the user changed
 * the proof.
 */
async function enqueueRequestedCheck(context: AccountsContext, trx: WriteTransaction, id: string): Promise<void> {
  const pending = await findPendingVerification(trx, id)
  if (pending && pending.answered < pending.asked) await enqueueSingleCheck(context, trx, id)
}

function enqueueSingleCheck(context: AccountsContext, trx: WriteTransaction, id: string): Promise<void> {
  return context.outbox.enqueue(trx, { topic, payload: { id, again: true }, uniqueKey: `${topic}:${id}:again` })
}

/**
 * Checks a proof once. Returns why the proof was not found; undefined if it was found or the verification is not
 * pending any more.
 */
async function checkProof(context: AccountsContext, id: string, isLast: boolean): Promise<string | undefined> {
  const row = await findPendingVerification(context.database.read, id)
  if (!row) return undefined
  const missing =
    row.method === 'github' ? await findMissingInFile(context, row, row.proof) : await findMissingProof(context, row)
  await context.database.writer.write(async (trx) => {
    const pending = await findPendingVerification(trx, id)
    if (!pending) return
    const at = context.clock.now()
    if (missing === undefined) await settleVerification(context, trx, pending, { status: 'verified', note: '', at })
    else if (isLast)
      await settleVerification(context, trx, pending, {
        status: 'rejected',
        note: `No proof was found in time. ${missing}`,
        at,
      })
    else {
      const looked = { note: missing, checked_at: at, answered: row.asked }
      await trx.updateTable('verifications').set(looked).where('id', '=', id).execute()
    }
  })
  return missing
}

function findPendingVerification(db: Pick<WriteTransaction, 'selectFrom'>, id: string) {
  return db
    .selectFrom('verifications')
    .selectAll()
    .where('id', '=', id)
    .where('status', '=', 'pending')
    .executeTakeFirst()
}

/** Returns why neither the TXT records nor the file of a domain contain the token; undefined if one does. */
async function findMissingProof(context: AccountsContext, row: VerificationRow): Promise<string | undefined> {
  const names = [row.proof, `_skillstead.${row.proof}`]
  const missing = await Promise.all(names.map((name) => findMissingInTxt(context.outgoing, name, row.token)))
  if (missing.includes(undefined)) return undefined
  const inFile = await findMissingInFile(context, row, toWellKnown(row.proof))
  return inFile && `${missing.join(' ')} ${inFile}`
}

async function findMissingInTxt(outgoing: Outgoing, name: string, token: string): Promise<string | undefined> {
  try {
    const records = await outgoing.readTxt(name)
    return records.some((record) => record.trim() === token) ? undefined : `No TXT record of ${name} equals the token.`
  } catch (error) {
    return `The TXT records of ${name} could not be read: ${toMissReason(error)}`
  }
}

async function findMissingInFile(context: AccountsContext, row: VerificationRow, address: string) {
  try {
    const { status, bytes } = await context.outgoing.get(address, { bytesMax: proofBytesMax, timeoutMs: proofMs })
    if (status !== 200) return `${address} returned the status ${status}.`
    const lines = Buffer.from(bytes).toString().split(/\r?\n/)
    return lines.some((line) => line.trim() === row.token)
      ? undefined
      : `${address} does not contain the token on its own line.`
  } catch (error) {
    return `${address} could not be read: ${toMissReason(error)}`
  }
}

/**
 * The reason why a proof could not be read: the message of an error of the registry's HTTP client, which reveals no
 * internals. Rethrows other errors, including the error of a node that shuts down, because they do not concern the
 * proof.
 */
function toMissReason(error: unknown): string {
  if (error instanceof RegistryError && error.code !== 'shutting_down') return error.message
  throw error
}
