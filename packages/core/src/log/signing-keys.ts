import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import { type Content, toTimestamp } from '@skillstead/protocol'
import { recordAudit } from './audit.ts'
import { systemCaller } from '../kernel/caller.ts'
import type { Clock } from '../kernel/clock.ts'
import type { LogContext } from './log-context.ts'
import type { Database } from '../storage/database.ts'
import type { SigningKeyRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { toCosignatureLine, toCosignedText, toSignatureLine, toVerifierKey } from './signed-notes.ts'

/** Time for which the previous key continues to sign after a rotation, so that readers that trust it can switch. */
const overlapMs = 30 * 24 * 60 * 60 * 1000

/** A public key of the node and its current state. */
export interface VerifierKey {
  /** `<origin>+<hash>+<key>`, the format of signed-note tools. */
  readonly vkey: string
  /** `current` signs; `overlap` also signs, until `retiresAt`; `retired` no longer signs. */
  readonly state: 'current' | 'overlap' | 'retired'
  readonly createdAt: string
  readonly retiresAt: string | null
}

/** A key that signs at present. */
export interface SigningKey {
  readonly number: number
  readonly publicKey: Uint8Array
  readonly privateKey: KeyObject
}

/** Creates the first signing key of a database, unless there is one. The nodes of a cluster share the key. */
export async function ensureSigningKey({ writer }: Database, clock: Clock): Promise<void> {
  await writer.write(async (trx) => {
    const some = await trx.selectFrom('signing_keys').select('number').limit(1).executeTakeFirst()
    if (!some) await insertSigningKey(trx, 1, clock.now())
  })
}

/** Lists every public key that the node has or had, newest first; the first is the current one. */
export async function readVerifierKeys(
  context: Pick<LogContext, 'database' | 'origin' | 'clock'>,
): Promise<VerifierKey[]> {
  const { database, origin, clock } = context
  const rows = await database.read
    .selectFrom('signing_keys')
    .select(['public_key', 'created_at', 'retires_at'])
    .orderBy('number', 'desc')
    .execute()
  const now = clock.now()
  return rows.map(({ public_key, created_at, retires_at }) => ({
    vkey: toVerifierKey(origin, public_key),
    state: retires_at === null ? 'current' : retires_at > now ? 'overlap' : 'retired',
    createdAt: toTimestamp(created_at),
    retiresAt: retires_at === null ? null : toTimestamp(retires_at),
  }))
}

/** GET /key: the keys that sign at present, one per line, the current one first. */
export async function readPublicKeys(context: LogContext): Promise<Content> {
  const keys = (await readVerifierKeys(context)).filter(({ state }) => state !== 'retired')
  const body = Buffer.from(keys.map(({ vkey }) => `${vkey}\n`).join(''))
  return { contentType: 'text/plain; charset=utf-8', body }
}

/**
 * Creates a new key, which signs from now on. The previous key also signs for an overlap period (default: 30 days), and
 * older keys retire no later. Pass an overlap of 0 after a theft, to retire all previous keys at once. Returns all
 * keys.
 */
export async function rotateKey(
  context: Pick<LogContext, 'database' | 'origin' | 'clock'>,
  options: { overlapMs?: number } = {},
): Promise<VerifierKey[]> {
  const at = context.clock.now()
  const retiresAt = at + (options.overlapMs ?? overlapMs)
  await context.database.writer.write(async (trx) => {
    const { number } = await trx
      .selectFrom('signing_keys')
      .select('number')
      .orderBy('number', 'desc')
      .limit(1)
      .executeTakeFirstOrThrow()
    await trx
      .updateTable('signing_keys')
      .set({ retires_at: retiresAt })
      .where((eb) => eb.or([eb('retires_at', 'is', null), eb('retires_at', '>', retiresAt)]))
      .execute()
    const publicKey = await insertSigningKey(trx, number + 1, at)
    const data = { key: toVerifierKey(context.origin, publicKey) }
    await recordAudit(trx, { caller: systemCaller, action: 'key.rotate', subject: context.origin, at, data })
  })
  await forgetRetiredKeys(context)
  return readVerifierKeys(context)
}

/** Deletes the private halves of retired keys, which are useful only to a thief. */
export async function forgetRetiredKeys({ database, clock }: Pick<LogContext, 'database' | 'clock'>): Promise<void> {
  await database.writer.write((trx) =>
    trx.updateTable('signing_keys').set({ private_key: null }).where('retires_at', '<=', clock.now()).execute(),
  )
}

/**
 * The keys that sign at present, the current one first. Read from the database each time, because another process may
 * have rotated them.
 */
export async function readSigningKeys({ database, clock, transparency }: LogContext): Promise<SigningKey[]> {
  const now = clock.now()
  const rows = await database.read
    .selectFrom('signing_keys')
    .select(['number', 'public_key', 'private_key'])
    .where((eb) => eb.or([eb('retires_at', 'is', null), eb('retires_at', '>', now)]))
    .orderBy('number', 'desc')
    .execute()
  return rows.filter(({ private_key }) => private_key !== null).map((row) => toSigningKey(transparency.keys, row))
}

/** One signature line of a signed note for each key that signs at present, over the UTF-8 bytes of the text. */
export async function signText(context: LogContext, text: string): Promise<string[]> {
  return toSignatureLines(context.origin, text, await readSigningKeys(context))
}

/** As {@link signText}, with keys that are already loaded. */
export function toSignatureLines(origin: string, text: string, keys: readonly SigningKey[]): string[] {
  const bytes = Buffer.from(text)
  return keys.map(({ publicKey, privateKey }) => toSignatureLine(origin, publicKey, sign(null, bytes, privateKey)))
}

/** One cosignature line per key, with the time at which it signs the checkpoint (C2SP tlog-cosignature). */
export function toCosignatureLines(origin: string, text: string, seconds: number, keys: readonly SigningKey[]) {
  const bytes = Buffer.from(toCosignedText(text, seconds))
  return keys.map(({ publicKey, privateKey }) =>
    toCosignatureLine(origin, publicKey, { seconds, signature: sign(null, bytes, privateKey) }),
  )
}

async function insertSigningKey(trx: WriteTransaction, number: number, at: number): Promise<Buffer> {
  const pair = generateKeyPairSync('ed25519')
  const publicKey = toRawPublicKey(pair.publicKey)
  const privateKey = pair.privateKey.export({ format: 'der', type: 'pkcs8' })
  const row = { number, public_key: publicKey, private_key: privateKey, created_at: at, retires_at: null }
  await trx.insertInto('signing_keys').values(row).execute()
  return publicKey
}

/** Returns a sentence about the fault if no key signs, or if the private and public halves of a key do not match. */
export async function findKeyProblem(db: Database['read']): Promise<string | undefined> {
  const rows = await db.selectFrom('signing_keys').selectAll().orderBy('number').execute()
  if (rows.at(-1)?.retires_at !== null) return 'The log has no signing key.'
  const wrong = rows.find((row) => row.private_key && !hasOtherHalf(row))
  return wrong && `The private and public halves of the log's key ${wrong.number} do not match.`
}

function hasOtherHalf(row: SigningKeyRow): boolean {
  try {
    return toRawPublicKey(createPublicKey(parsePrivate(row))).equals(row.public_key)
  } catch {
    return false
  }
}

function toRawPublicKey(publicKey: KeyObject): Buffer {
  return Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url')
}

function parsePrivate({ private_key }: Pick<SigningKeyRow, 'private_key'>): KeyObject {
  return createPrivateKey({ key: Buffer.from(private_key!), format: 'der', type: 'pkcs8' })
}

type StoredKey = Pick<SigningKeyRow, 'number' | 'public_key' | 'private_key'>

/** Parsing a key costs as much as signing with it, so parsed keys are cached by number. A number is never reused. */
function toSigningKey(cached: Map<number, KeyObject>, row: StoredKey): SigningKey {
  const { number, public_key } = row
  let privateKey = cached.get(number)
  if (!privateKey) {
    privateKey = parsePrivate(row)
    cached.set(number, privateKey)
  }
  return { number, publicKey: public_key, privateKey }
}
