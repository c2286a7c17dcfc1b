import { RegistryError } from '@skillstead/protocol'
import { hourMs, minuteMs } from '../kernel/clock.ts'
import type { AccountsContext } from './accounts-context.ts'
import type { Outgoing } from '../http/outgoing.ts'
import type { VerificationRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { toWellKnown } from './verification-form.ts'
import { settleVerification } from './verification-decide.ts'

const topic = 'verification'
/** DNS changes may take a day to be visible. A user who waits at the dashboard can request a check at once. */
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
      // A check on request is not retried; the scheduled retries continue.
      if (missing !== undefined && !isLast && again !== true) throw new Error(missing)
    },
    async afterwards(trx, ended) {
      const ids = ended.filter(({ state, payload }) => state === 'done' && payload.again === true)
      for (const { payload } of ids) await enqueueRequestedCheck(context, trx, String(payload.id))
    },
  })
}

/**
 * Schedules the series of checks of a pending verification, and with `again` one more check now. An administrator
 * decides manual verifications.
 */
export async function enqueueCheck(
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
 * Checks once. Returns why the proof was not found; undefined if it was found or the verification is not pending any
 * more.
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

async function findMissingInFile(
  context: AccountsContext,
  row: VerificationRow,
  address: string,
): Promise<string | undefined> {
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
 * Errors of the registry's HTTP client reveal no internals. An error because this node shuts down says nothing about
 * the proof, so it is rethrown.
 */
function toMissReason(error: unknown): string {
  if (error instanceof RegistryError && error.code !== 'shutting_down') return error.message
  throw error
}
