import { createHash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'
import {
  type ApiKey,
  isOwnerOrFullName,
  limits,
  type PublisherIdentity,
  RegistryError,
  type Scope,
  scopes,
  toTimestamp,
} from '@skillstead/protocol'
import type { StorageContext } from '../storage/storage-context.ts'
import { type Caller, requireAccount, type UserCaller } from '../kernel/caller.ts'
import { dayMs } from '../kernel/clock.ts'
import { invalidField } from '../kernel/field-errors.ts'
import { newId } from '../kernel/ids.ts'
import type { Input, Operation } from '../kernel/operation-input.ts'
import { recordAudit } from '../log/audit.ts'
import { countRows } from '../storage/count-rows.ts'
import { readPage } from '../storage/read-page.ts'
import type { ApiKeyRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import type { AccountsContext } from './accounts-context.ts'
import { findAccount, getPerson } from './find-user.ts'

/** GET /api-keys: the keys of the caller, or of the user whom an administrator names, newest first. */
export const listApiKeys: Operation<'listApiKeys', StorageContext> = async (context, input, caller) => {
  const { id } = await findAccount(context, input.username, caller)
  const mine = context.database.read.selectFrom('api_keys').where('user_id', '=', id)
  const { rows, paging } = await readPage(mine, mine.selectAll().orderBy('id', 'desc'), input)
  const made = await countMadeByKeys(context, rows)
  const apiKeys = rows.map((row) => ({ ...toApiKey(row), made: made.get(row.id) ?? 0 }))
  return { apiKeys, ...paging }
}

/** For each of the given keys, the number of unexpired API keys and share links that were made with it. */
async function countMadeByKeys({ database, clock }: StorageContext, rows: readonly ApiKeyRow[]) {
  const ids = rows.map(({ id }) => id)
  const made = new Map<string, number>()
  if (ids.length === 0) return made
  for (const table of ['api_keys', 'shares'] as const) {
    const counts = await database.read
      .selectFrom(table)
      .select(({ fn }) => ['made_by', fn.countAll<number>().as('count')])
      .where('made_by', 'in', ids)
      .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', clock.now())]))
      .groupBy('made_by')
      .execute()
    for (const { made_by: id, count } of counts) made.set(id!, (made.get(id!) ?? 0) + count)
  }
  return made
}

/**
 * POST /api-keys: creates an API key, whose text is shown only in this response. The new key has no scope that the
 * caller's key lacks, and expires no later than the caller's key.
 */
export const createApiKey: Operation<'createApiKey', StorageContext> = async (context, input, caller) => {
  const { key, ...secret } = createKey()
  const made = await context.database.writer.write((trx) => addApiKey(context, trx, input, caller, secret))
  return { ...made, key }
}

/**
 * As {@link createApiKey}, within a transaction. `secret` has the prefix and the hash of the key, whose text {@link
 * createKey} returned.
 */
export async function addApiKey(
  context: StorageContext,
  trx: WriteTransaction,
  input: Pick<Input<'createApiKey'>, 'name' | 'scopes' | 'expiresInDays' | 'limitedTo'>,
  caller: Caller,
  secret: StoredSecret,
): Promise<ApiKey> {
  const user = requireAccount(caller)
  const wanted = toScopes(input, user.scopes)
  refuseWiderScopes(wanted, user)
  const made = await insertLimitedKey(context, trx, { ...input, userId: user.userId, scopes: wanted }, caller, secret)
  const [at, data] = [context.clock.now(), { name: input.name }]
  await recordAudit(trx, { caller, action: 'key.create', subject: made.id, at, data })
  return made
}

/**
 * The scopes of a new key. Default: those of the caller's key. A key that is limited to an owner or a skill manages no
 * account: throws `invalid_request` if the scope `manage` was requested for it.
 */
function toScopes(
  { scopes: wanted, limitedTo }: Pick<Input<'createApiKey'>, 'scopes' | 'limitedTo'>,
  own: readonly Scope[],
) {
  if (limitedTo === undefined) return [...new Set(wanted ?? own)]
  requireOwnerOrFullName('limitedTo', limitedTo)
  if (wanted?.includes('manage'))
    throw invalidField('scopes', 'must not contain manage in a key that is limited to an owner or a skill')
  return [...new Set(wanted ?? own.filter((scope) => scope !== 'manage'))]
}

/** Throws `invalid_request` for a field that names neither an owner nor a skill by its full name. */
export function requireOwnerOrFullName(field: string, text: string): void {
  if (isOwnerOrFullName(text)) return
  throw invalidField(field, 'must be an owner, such as acme, or the full name of a skill, such as acme/pdf')
}

/**
 * POST /users/<username>/keys, for administrators: creates a key for a user who lost all keys. Throws `conflict` for a
 * user who cannot sign in, and `forbidden` for scopes that the administrator's own key lacks. The key ends no later
 * than the administrator's own key.
 */
export const issueKey: Operation<'issueKey', StorageContext> = async (context, input, caller) => {
  const { username, name } = input
  const wanted = [...new Set(input.scopes ?? scopes)]
  if (caller.kind === 'user') refuseWiderScopes(wanted, caller)
  const user = await getPerson(context, username)
  if (!user.claimed)
    throw new RegistryError(
      'conflict',
      `'${username}' is the name of an imported author, not of a user. Create a user with this name first.`,
    )
  if (user.disabled) throw new RegistryError('conflict', `'${username}' is disabled. Enable the user first.`)
  const { key, ...secret } = createKey()
  return context.database.writer.write(async (trx) => {
    const made = await insertLimitedKey(context, trx, { ...input, userId: user.id, scopes: wanted }, caller, secret)
    const [at, data] = [context.clock.now(), { id: made.id, name }]
    await recordAudit(trx, { caller, action: 'key.issue', subject: username, at, data })
    return { ...made, key }
  })
}

/**
 * DELETE /api-keys/<id>: revokes a key at once; with `withMade` also the keys and share links that were made with it,
 * directly or through other keys. Only administrators revoke keys of other users. Throws `not_found`, also for keys
 * that the caller may not revoke.
 */
export const deleteApiKey: Operation<'deleteApiKey', AccountsContext> = async (context, input, caller) => {
  const { userId, role } = requireAccount(caller)
  const { id, withMade } = input
  await context.database.writer.write(async (trx) => {
    const removal = trx
      .deleteFrom('api_keys')
      .where('id', '=', id)
      .$if(role !== 'admin', (own) => own.where('user_id', '=', userId))
    const gone = await removal.returning(deletedColumns).executeTakeFirst()
    if (!gone) throw new RegistryError('not_found', 'You have no API key with this id.')
    const [at, heir] = [context.clock.now(), gone.made_by]
    await recordDeletion(trx, gone, { caller, at })
    // No more keys can be made with a deleted key, so each round finds all keys that were made with the keys of the
    // previous round.
    for (let left = [id]; left.length > 0;) {
      const ids = left.slice(0, idsMax)
      const revoked = withMade ? await deleteKeysMadeBy(trx, ids, role === 'admin' ? undefined : userId) : []
      await trx.updateTable('api_keys').set({ made_by: heir }).where('made_by', 'in', ids).execute()
      await context.onKeysRevoked(trx, { ids, withMade, heir })
      for (const key of revoked) await recordDeletion(trx, key, { caller, at })
      left = [...left.slice(idsMax), ...revoked.map((key) => key.id)]
    }
  })
}

/** Maximum number of ids per statement: databases limit the number of parameters. */
const idsMax = 1000

/**
 * Deletes the keys that were made with the keys `makers`; with `userId`, only those of this user. Returns the deleted
 * keys.
 */
async function deleteKeysMadeBy(trx: WriteTransaction, makers: readonly string[], userId: string | undefined) {
  return trx
    .deleteFrom('api_keys')
    .where('made_by', 'in', makers)
    .$if(userId !== undefined, (removal) => removal.where('user_id', '=', userId!))
    .returning(deletedColumns)
    .execute()
}

const deletedColumns = ['id', 'name', 'user_id', 'made_by'] as const

async function recordDeletion(
  trx: WriteTransaction,
  { id, name, user_id, made_by: madeBy }: Pick<ApiKeyRow, (typeof deletedColumns)[number]>,
  { caller, at }: { caller: Caller; at: number },
): Promise<void> {
  const owner = trx.selectFrom('users').select('username').where('id', '=', user_id)
  const { username } = await owner.executeTakeFirstOrThrow()
  const data = { username, name, ...(madeBy !== null && { madeBy }) }
  await recordAudit(trx, { caller, action: 'key.delete', subject: id, at, data })
}

async function insertLimitedKey(
  context: StorageContext,
  trx: WriteTransaction,
  key: { userId: string; name: string; scopes: readonly Scope[]; expiresInDays?: number; limitedTo?: string },
  caller: Caller,
  secret: StoredSecret,
): Promise<ApiKey> {
  const now = context.clock.now()
  const maker = await requireMaker(trx, caller, now)
  await refuseTooManyKeys(trx, key.userId)
  const { expiresInDays } = key
  const endsAt = expiresInDays === undefined ? undefined : now + expiresInDays * dayMs
  return insertKey(trx, { ...key, now, maker, endsAt }, secret)
}

/**
 * The API key with which a caller makes another key, a share link or a session, and the expiry of that API key in
 * milliseconds since 1970. `id` is null if the caller uses no key.
 */
export interface Maker {
  readonly id: string | null
  readonly endsAt: number
}

/**
 * Finds the API key of the caller: a key, a share link or a session that the caller makes must not outlive it. Write
 * transactions of all nodes run one after another, so no other write revokes the key before the result is stored.
 * Throws `unauthorized` if the key, or a session without a key, ended after the request arrived. A caller without a
 * key, such as the operator, sets no end.
 */
export async function requireMaker(trx: WriteTransaction, caller: Caller, now: number): Promise<Maker> {
  const { makerId: id, sessionId } = caller.kind === 'user' ? caller : {}
  if (id === undefined) {
    if (sessionId !== undefined) await requireOpenSession(trx, sessionId)
    return { id: null, endsAt: Infinity }
  }
  const key = await trx
    .selectFrom('api_keys')
    .innerJoin('users', 'users.id', 'api_keys.user_id')
    .select('api_keys.expires_at')
    .where('api_keys.id', '=', id)
    .where('users.disabled', '=', 0)
    .executeTakeFirst()
  const endsAt = key ? (key.expires_at ?? Infinity) : 0
  if (endsAt <= now) throw new RegistryError('unauthorized', 'This API key is no longer valid.')
  return { id, endsAt }
}

async function requireOpenSession(trx: WriteTransaction, id: string): Promise<void> {
  const open = await trx
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .select('sessions.id')
    .where('sessions.id', '=', id)
    .where('users.disabled', '=', 0)
    .executeTakeFirst()
  if (!open) throw new RegistryError('unauthorized', 'This session has ended. Sign in again.')
}

/**
 * Stores an API key as its prefix and its hash, without its text. The key expires no later than the key with which it
 * was made.
 */
export async function insertKey(
  trx: WriteTransaction,
  key: {
    userId: string
    name: string
    scopes?: readonly Scope[]
    now: number
    maker: Maker
    endsAt?: number | undefined
    limitedTo?: string
    identity?: PublisherIdentity
  },
  { prefix, hash }: StoredSecret,
): Promise<ApiKey> {
  const endsAt = Math.min(key.endsAt ?? Infinity, key.maker.endsAt)
  const row: ApiKeyRow = {
    id: newId(),
    user_id: key.userId,
    name: key.name,
    prefix,
    hash,
    scopes: (key.scopes ?? scopes).join(' '),
    created_at: key.now,
    last_used_at: null,
    expires_at: endsAt === Infinity ? null : endsAt,
    made_by: key.maker.id,
    limited_to: key.limitedTo ?? null,
    identity: key.identity ? JSON.stringify(key.identity) : null,
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

async function refuseTooManyKeys(trx: WriteTransaction, userId: string): Promise<void> {
  const count = await countRows(trx.selectFrom('api_keys').where('user_id', '=', userId).where('identity', 'is', null))
  if (count >= limits.apiKeysPerUserMax) {
    throw new RegistryError('conflict', `This user already has ${count} API keys, the maximum. Delete one first.`)
  }
}

/** Parses a stored list of scopes that are separated by spaces. Leaves out unknown words. */
export function parseScopes(stored: string): Scope[] {
  return stored.split(' ').flatMap((word) => scopes.find((scope) => scope === word) ?? [])
}

function toApiKey(row: ApiKeyRow): ApiKey {
  return {
    id: row.id,
    name: row.name,
    prefix: row.prefix,
    scopes: parseScopes(row.scopes),
    createdAt: toTimestamp(row.created_at),
    lastUsedAt: row.last_used_at === null ? null : toTimestamp(row.last_used_at),
    expiresAt: row.expires_at === null ? null : toTimestamp(row.expires_at),
    madeBy: row.made_by,
    limitedTo: row.limited_to,
  }
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const bodyLength = 32
const checksumLength = 6
const keyPattern = /^ssk_[0-9A-Za-z]{38}$/

/** Number of characters of a key that are stored in the clear, so that users recognise the key in lists. */
const prefixLength = 8

/**
 * Creates a key: `ssk_`, 32 random base62 characters (190 bits), and a checksum by which secret scanners recognise
 * keys.
 */
export function createKey(): StoredSecret & { readonly key: string } {
  const body = Array.from({ length: bodyLength }, () => alphabet[randomInt(alphabet.length)]).join('')
  const key = `ssk_${body}${toKeyChecksum(body)}`
  return { key, prefix: key.slice(0, prefixLength), hash: hashKey(key) }
}

/** The parts of a key that are stored. */
interface StoredSecret {
  readonly prefix: string
  readonly hash: string
}

/** Whether a text has the form and the checksum of a key. Does not look up whether the key exists. */
export function isKey(text: string): boolean {
  if (!keyPattern.test(text)) return false
  const body = text.slice(4, 4 + bodyLength)
  return toKeyChecksum(body) === text.slice(4 + bodyLength)
}

/** The stored hash of a key. Plain SHA-256 is enough for 190 random bits; slow hashes are for guessable secrets. */
export function hashKey(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}

function toKeyChecksum(body: string): string {
  let rest = crc32(body)
  let text = ''
  for (let i = 0; i < checksumLength; i++) {
    text = alphabet[rest % alphabet.length] + text
    rest = Math.floor(rest / alphabet.length)
  }
  return text
}
