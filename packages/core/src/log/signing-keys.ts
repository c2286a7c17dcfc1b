import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import { type Content, toTimestamp } from '@skillstead/protocol'
import { recordAudit } from './audit.ts'
import { systemCaller } from '../kernel/caller.ts'
import type { Clock } from '../kernel/clock.ts'
import type { LogContext } from './log-context.ts'
import type { Database } from '../storage/database.ts'
import type { SigningKeyRow } from '../storage/rows-transparency.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { toCosignatureLine, toCosignedText, toSignatureLine, toVerifierKey } from './signed-notes.ts'

/** How long the key before goes on signing beside the new one, so that whoever trusts it can move over. */
const overlapMs = 30 * 24 * 60 * 60 * 1000

/** A public key of the node, and what it is good for now. */
export interface VerifierKey {
  /** `<origin>+<hash>+<key>`, as tools for signed notes take it. */
  readonly vkey: string
  /** `current` signs; `overlap` signs beside it until `retiresAt`; `retired` signed once. */
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

/** Makes the first key of a database that has none. The nodes of a cluster share what the first of them made. */
export async function ensureSigningKey({ writer }: Database, clock: Clock): Promise<void> {
  await writer.write(async (trx) => {
    const some = await trx.selectFrom('signing_keys').select('number').limit(1).executeTakeFirst()
    if (!some) await insertKey(trx, 1, clock.now())
  })
}

/** Every public key that the node has or had, newest first; the first is the current one. */
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

/** GET /key: the keys that sign at present, one a line, the current one first. */
export async function readPublicKeys(context: LogContext): Promise<Content> {
  const keys = (await readVerifierKeys(context)).filter(({ state }) => state !== 'retired')
  const body = Buffer.from(keys.map(({ vkey }) => `${vkey}\n`).join(''))
  return { contentType: 'text/plain; charset=utf-8', body }
}

/**
 * Makes a new key, which signs from now on. The one before signs beside it for a time, 30 days unless it is said, and
 * older ones no longer than that: after a theft all of them end at once. Returns the keys as they are then.
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
    const publicKey = await insertKey(trx, number + 1, at)
    const data = { key: toVerifierKey(context.origin, publicKey) }
    await recordAudit(trx, { caller: systemCaller, action: 'key.rotate', subject: context.origin, at, data })
  })
  await forgetRetiredKeys(context)
  return readVerifierKeys(context)
}

/** The private halves of keys that sign no more are of no use but to a thief. */
export async function forgetRetiredKeys({ database, clock }: Pick<LogContext, 'database' | 'clock'>): Promise<void> {
  await database.writer.write((trx) =>
    trx.updateTable('signing_keys').set({ private_key: null }).where('retires_at', '<=', clock.now()).execute(),
  )
}

/** The keys that sign at present, the current one first: read each time, for another process may have rotated. */
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

/** As {@link signText}, with keys that were read already. */
export function toSignatureLines(origin: string, text: string, keys: readonly SigningKey[]): string[] {
  const bytes = Buffer.from(text)
  return keys.map(({ publicKey, privateKey }) => toSignatureLine(origin, publicKey, sign(null, bytes, privateKey)))
}

/** One line for each key that says when it saw a checkpoint (C2SP tlog-cosignature). */
export function toCosignatureLines(
  origin: string,
  text: string,
  seconds: number,
  keys: readonly SigningKey[],
): string[] {
  const bytes = Buffer.from(toCosignedText(text, seconds))
  return keys.map(({ publicKey, privateKey }) =>
    toCosignatureLine(origin, publicKey, { seconds, signature: sign(null, bytes, privateKey) }),
  )
}

async function insertKey(trx: WriteTransaction, number: number, at: number): Promise<Buffer> {
  const pair = generateKeyPairSync('ed25519')
  const publicKey = toBytes(pair.publicKey)
  const privateKey = pair.privateKey.export({ format: 'der', type: 'pkcs8' })
  const row = { number, public_key: publicKey, private_key: privateKey, created_at: at, retires_at: null }
  await trx.insertInto('signing_keys').values(row).execute()
  return publicKey
}

/** A sentence where no key signs, or about the first that signs what nobody could verify. */
export async function findKeyProblem(db: Database['read']): Promise<string | undefined> {
  const rows = await db.selectFrom('signing_keys').selectAll().orderBy('number').execute()
  if (rows.at(-1)?.retires_at !== null) return 'The log has no key that signs it.'
  const wrong = rows.find((row) => row.private_key && !hasOtherHalf(row))
  return wrong && `The log's key ${wrong.number} has two halves that do not belong together.`
}

function hasOtherHalf(row: SigningKeyRow): boolean {
  try {
    return toBytes(createPublicKey(parsePrivate(row))).equals(row.public_key)
  } catch {
    return false
  }
}

function toBytes(publicKey: KeyObject): Buffer {
  return Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url')
}

function parsePrivate({ private_key }: Pick<SigningKeyRow, 'private_key'>): KeyObject {
  return createPrivateKey({ key: Buffer.from(private_key!), format: 'der', type: 'pkcs8' })
}

type StoredKey = Pick<SigningKeyRow, 'number' | 'public_key' | 'private_key'>

/** Reading a key costs as much as signing with it, so it is kept, under its number, which never means another one. */
function toSigningKey(kept: Map<number, KeyObject>, row: StoredKey): SigningKey {
  const { number, public_key } = row
  let privateKey = kept.get(number)
  if (!privateKey) {
    privateKey = parsePrivate(row)
    kept.set(number, privateKey)
  }
  return { number, publicKey: public_key, privateKey }
}
