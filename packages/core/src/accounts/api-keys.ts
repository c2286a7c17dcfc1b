import { createHash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { type ApiKey, limits, RegistryError, type Scope, scopes, toTimestamp } from '@skillstead/protocol'
import type { StorageContext } from '../storage/storage-context.ts'
import { type Caller, requireAccount, type UserCaller } from '../kernel/caller.ts'
import { dayMs } from '../kernel/clock.ts'
import { newId } from '../kernel/ids.ts'
import type { Input } from '../kernel/operation-input.ts'
import { toOffset, toPage } from '../kernel/paging.ts'
import { recordAudit } from '../log/audit.ts'
import { countRows } from '../storage/count-rows.ts'
import type { ApiKeyRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { getUserByName } from './users.ts'

/** GET /api-keys: the caller's keys, newest first. */
export async function listApiKeys(context: StorageContext, input: Input<'listApiKeys'>, caller: Caller) {
  const { userId } = requireAccount(caller)
  const mine = context.database.read.selectFrom('api_keys').where('user_id', '=', userId)
  const count = await countRows(mine)
  const rows = await mine
    .selectAll()
    .orderBy('id', 'desc')
    .limit(input.limit)
    .offset(toOffset(input.page, input.limit))
    .execute()
  return { apiKeys: rows.map(toApiKey), ...toPage(count, input.page, input.limit) }
}

/**
 * POST /api-keys: creates a key, shown only in this response. A key cannot create a key with more scopes than its own.
 */
export async function createApiKey(context: StorageContext, input: Input<'createApiKey'>, caller: Caller) {
  const { key, ...secret } = createKey()
  const made = await context.database.writer.write((trx) => addApiKey(context, trx, input, caller, secret))
  return { ...made, key }
}

/** {@link createApiKey} as part of a transaction, with a key whose text its user gets otherwise. */
export async function addApiKey(
  context: StorageContext,
  trx: WriteTransaction,
  input: Pick<Input<'createApiKey'>, 'name' | 'scopes' | 'expiresInDays'>,
  caller: Caller,
  secret: StoredSecret,
): Promise<ApiKey> {
  const user = requireAccount(caller)
  const wanted = [...new Set(input.scopes ?? user.scopes)]
  refuseWiderScopes(wanted, user)
  const made = await insertLimitedKey(context, trx, { ...input, userId: user.userId, scopes: wanted }, secret)
  const [at, data] = [context.clock.now(), { name: input.name }]
  await recordAudit(trx, { caller, action: 'key.create', subject: made.id, at, data })
  return made
}

/**
 * POST /users/<username>/keys, for administrators: a key for a user who lost theirs. Throws `conflict` for a user who
 * cannot sign in, and `forbidden` for scopes that the administrator's own key lacks.
 */
export async function issueKey(context: StorageContext, input: Input<'issueKey'>, caller: Caller) {
  const { username, name } = input
  const wanted = [...new Set(input.scopes ?? scopes)]
  if (caller.kind === 'user') refuseWiderScopes(wanted, caller)
  const user = await getUserByName(context, username)
  if (!user.claimed)
    throw new RegistryError(
      'conflict',
      `'${username}' is the name of an imported author, not of a user. Create a user with this name first.`,
    )
  if (user.disabled) throw new RegistryError('conflict', `'${username}' is disabled. Enable the user first.`)
  const { key, ...secret } = createKey()
  return context.database.writer.write(async (trx) => {
    const made = await insertLimitedKey(context, trx, { ...input, userId: user.id, scopes: wanted }, secret)
    const [at, data] = [context.clock.now(), { id: made.id, name }]
    await recordAudit(trx, { caller, action: 'key.issue', subject: username, at, data })
    return { ...made, key }
  })
}

/** DELETE /api-keys/<id>: revokes a key at once. Throws `not_found`, also for keys of other users. */
export async function deleteApiKey(
  context: StorageContext,
  input: Input<'deleteApiKey'>,
  caller: Caller,
): Promise<undefined> {
  const { userId } = requireAccount(caller)
  await context.database.writer.write(async (trx) => {
    const gone = await trx
      .deleteFrom('api_keys')
      .where('id', '=', input.id)
      .where('user_id', '=', userId)
      .returning('id')
      .execute()
    if (gone.length === 0) throw new RegistryError('not_found', 'You have no API key with this id.')
    await recordAudit(trx, { caller, action: 'key.delete', subject: input.id, at: context.clock.now() })
  })
}

async function insertLimitedKey(
  context: StorageContext,
  trx: WriteTransaction,
  key: { userId: string; name: string; scopes: readonly Scope[]; expiresInDays?: number },
  secret: StoredSecret,
): Promise<ApiKey> {
  await refuseTooMany(trx, key.userId)
  const now = context.clock.now()
  const expiresAt = key.expiresInDays === undefined ? null : now + key.expiresInDays * dayMs
  return insertKey(trx, { ...key, now, expiresAt }, secret)
}

/** Stores a key without its text. */
export async function insertKey(
  trx: WriteTransaction,
  key: { userId: string; name: string; scopes?: readonly Scope[]; now: number; expiresAt?: number | null },
  { prefix, hash }: StoredSecret,
): Promise<ApiKey> {
  const row: ApiKeyRow = {
    id: newId(),
    user_id: key.userId,
    name: key.name,
    prefix,
    hash,
    scopes: (key.scopes ?? scopes).join(' '),
    created_at: key.now,
    last_used_at: null,
    expires_at: key.expiresAt ?? null,
  }
  await trx.insertInto('api_keys').values(row).execute()
  return toApiKey(row)
}

function refuseWiderScopes(wanted: readonly Scope[], user: UserCaller): void {
  const wider = wanted.filter((scope) => !user.scopes.includes(scope))
  if (wider.length > 0) {
    throw new RegistryError(
      'forbidden',
      `A key can grant only scopes that it has. The key in use lacks '${wider.join("', '")}'.`,
    )
  }
}

async function refuseTooMany(trx: WriteTransaction, userId: string): Promise<void> {
  const count = await countRows(trx.selectFrom('api_keys').where('user_id', '=', userId))
  if (count >= limits.apiKeysPerUserMax) {
    throw new RegistryError('conflict', `This user already has ${count} API keys, the maximum. Delete one first.`)
  }
}

function toApiKey(row: ApiKeyRow): ApiKey {
  return {
    id: row.id,
    name: row.name,
    prefix: row.prefix,
    scopes: row.scopes.split(' ') as Scope[],
    createdAt: toTimestamp(row.created_at),
    lastUsedAt: row.last_used_at === null ? null : toTimestamp(row.last_used_at),
    expiresAt: row.expires_at === null ? null : toTimestamp(row.expires_at),
  }
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const bodyLength = 32
const checksumLength = 6
const keyPattern = /^ssk_[0-9A-Za-z]{38}$/

/** Number of characters of a key that are stored in the clear, to recognise it in lists. */
const prefixLength = 8

/**
 * Creates a key: `ssk_`, 32 random base62 characters (190 bits), and a checksum by which secret scanners recognise
 * keys.
 */
export function createKey(): StoredSecret & { readonly key: string } {
  const body = Array.from({ length: bodyLength }, () => alphabet[randomInt(alphabet.length)]).join('')
  const key = `ssk_${body}${toChecksum(body)}`
  return { key, prefix: key.slice(0, prefixLength), hash: hashKey(key) }
}

/** What is stored of a key. */
interface StoredSecret {
  readonly prefix: string
  readonly hash: string
}

/** Whether a text has the form and checksum of a key; needs no database. */
export function isKey(text: string): boolean {
  if (!keyPattern.test(text)) return false
  const body = text.slice(4, 4 + bodyLength)
  return toChecksum(body) === text.slice(4 + bodyLength)
}

/** The stored hash of a key. Plain SHA-256 is enough for 190 random bits; slow hashes are for guessable secrets. */
export function hashKey(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}

function toChecksum(body: string): string {
  let rest = crc32(body)
  let text = ''
  for (let i = 0; i < checksumLength; i++) {
    text = alphabet[rest % alphabet.length] + text
    rest = Math.floor(rest / alphabet.length)
  }
  return text
}
