import { RegistryError } from '@skillstead/protocol'
import type { AccountsContext } from './accounts-context.ts'
import type { Outgoing } from '../http/outgoing.ts'
import type { VerificationRow } from '../storage/rows-trust.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { toWellKnown } from './verification-proofs.ts'
import { settleVerification } from './verification-outcome.ts'

const topic = 'verification'
const minuteMs = 60_000
const hourMs = 60 * minuteMs
/** Name servers may take a day to tell what changed; who waits in front of the screen asks again himself. */
const retryDelaysMs = [minuteMs, 5 * minuteMs, 15 * minuteMs, hourMs, 3 * hourMs, 6 * hourMs, 12 * hourMs, 24 * hourMs]

const proofBytesMax = 64 * 1024
const proofMs = 10_000

/** Looks for the proofs of what is pending, whenever the outbox says so. */
export function handleVerifications(context: AccountsContext): void {
  context.outbox.handle(topic, {
    retryDelaysMs,
    async handle({ id, again }, attempt) {
      const isLast = again !== true && attempt > retryDelaysMs.length
      const missing = await check(context, String(id), isLast)
      // A look in between has no further ones: the ones of the beginning go on.
      if (missing !== undefined && !isLast && again !== true) throw new Error(missing)
    },
    async afterwards(trx, ended) {
      const ids = ended.filter(({ state, payload }) => state === 'done' && payload.again === true)
      for (const { payload } of ids) await lookAgain(context, trx, String(payload.id))
    },
  })
}

/** Has a pending verification looked at: from the beginning, or once more at once. Manual ones wait for a person. */
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
  await enqueueLook(context, trx, row.id)
}

/** Where somebody asked while the look before was under way: it may have seen what was there before he asked. */
async function lookAgain(context: AccountsContext, trx: WriteTransaction, id: string): Promise<void> {
  const pending = await findPending(trx, id)
  if (pending && pending.answered < pending.asked) await enqueueLook(context, trx, id)
}

function enqueueLook(context: AccountsContext, trx: WriteTransaction, id: string): Promise<void> {
  return context.outbox.enqueue(trx, { topic, payload: { id, again: true }, uniqueKey: `${topic}:${id}:again` })
}

/** Looks once. Answers why there is no proof, or undefined where there is one, or nothing is pending any more. */
async function check(context: AccountsContext, id: string, isLast: boolean): Promise<string | undefined> {
  const row = await findPending(context.database.read, id)
  if (!row) return undefined
  const missing = row.method === 'github' ? await missesInFile(context, row, row.proof) : await missesOf(context, row)
  await context.database.writer.write(async (trx) => {
    const pending = await findPending(trx, id)
    if (!pending) return
    const at = context.clock.now()
    if (missing === undefined) await settleVerification(context, trx, pending, { status: 'verified', note: '', at })
    else if (isLast)
      await settleVerification(context, trx, pending, { status: 'rejected', note: `Given up. ${missing}`, at })
    else {
      const looked = { note: missing, checked_at: at, answered: row.asked }
      await trx.updateTable('verifications').set(looked).where('id', '=', id).execute()
    }
  })
  return missing
}

function findPending(db: Pick<WriteTransaction, 'selectFrom'>, id: string) {
  return db
    .selectFrom('verifications')
    .selectAll()
    .where('id', '=', id)
    .where('status', '=', 'pending')
    .executeTakeFirst()
}

/** Why a domain does not prove anything: neither its TXT records nor its file do. */
async function missesOf(context: AccountsContext, row: VerificationRow): Promise<string | undefined> {
  const names = [row.proof, `_skillstead.${row.proof}`]
  const missing = await Promise.all(names.map((name) => missesInTxt(context.outgoing, name, row.token)))
  if (missing.includes(undefined)) return undefined
  const inFile = await missesInFile(context, row, toWellKnown(row.proof))
  return inFile && `${missing.join(' ')} ${inFile}`
}

async function missesInTxt(outgoing: Outgoing, name: string, token: string): Promise<string | undefined> {
  try {
    const records = await outgoing.readTxt(name)
    return records.some((record) => record.trim() === token) ? undefined : `No TXT record of ${name} is the token.`
  } catch (error) {
    return `The TXT records of ${name} could not be read: ${toReason(error)}`
  }
}

async function missesInFile(
  context: AccountsContext,
  row: VerificationRow,
  address: string,
): Promise<string | undefined> {
  try {
    const { status, bytes } = await context.outgoing.get(address, { bytesMax: proofBytesMax, timeoutMs: proofMs })
    if (status !== 200) return `${address} answers with the status ${status}.`
    const lines = Buffer.from(bytes).toString().split(/\r?\n/)
    return lines.some((line) => line.trim() === row.token)
      ? undefined
      : `${address} does not hold the token on a line of its own.`
  } catch (error) {
    return `${address} could not be read: ${toReason(error)}`
  }
}

/** Refusals of the guarded client are fit to be shown. One that is about this node is no news about the proof. */
function toReason(error: unknown): string {
  if (error instanceof RegistryError && error.code !== 'shutting_down') return error.message
  throw error
}
