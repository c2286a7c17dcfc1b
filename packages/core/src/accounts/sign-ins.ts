import { randomBytes, randomInt } from 'node:crypto'
import { RegistryError, type Scope } from '@skillstead/protocol'
import { requireAccount, type Caller } from '../kernel/caller.ts'
import { skewMs } from '../kernel/clock.ts'
import { createSecrets } from '../kernel/secrets.ts'
import { hashToken } from '../kernel/tokens.ts'
import { writeApart } from '../storage/database.ts'
import type { StorageContext } from '../storage/storage-context.ts'
import { hasRow } from '../storage/table-rows.ts'
import type { SignInRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { addApiKey, createKey, parseScopes } from './api-keys.ts'

/**
 * Minimum time between two polls, in seconds; each early poll adds this time to the minimum (RFC 8628, section 3.5).
 */
const intervalSeconds = 5
/**
 * A poll may be this much too early: networks deliver some polls faster than the previous poll, and the clocks of nodes
 * differ.
 */
const toleranceMs = 1000
const lifetimeMs = 10 * 60_000
const addressPendingMax = 20
/**
 * Maximum number of stored sign-in requests: each new request deletes the request that came this number of requests
 * earlier. So a flood of requests neither fills the database nor blocks the requests of other programs for long, and no
 * query has to count requests.
 */
const requestsMax = 100_000
/** The letters of the 20 ** 8 user codes: no vowels, so that codes form no words (RFC 8628, section 6.1). */
const letters = 'BCDFGHJKLMNPQRSTVWXZ'
const deviceCodePattern = /^[\w-]{43}$/

/**
 * Creates the codes for a program that requests a sign-in (RFC 8628). The database stores only digests of the codes,
 * and the API key for the program, encrypted with the device code, so that any node can answer the polls of the
 * program.
 */
export async function requestSignIn(
  context: StorageContext,
  { label, address, scopes = ['read', 'publish'] }: { label: string; address: string; scopes?: readonly Scope[] },
) {
  const deviceCode = randomBytes(32).toString('base64url')
  const { key, prefix, hash } = createKey()
  const now = context.clock.now()
  const row = {
    device_hash: hashToken(deviceCode),
    label,
    address_hash: hashToken(address),
    state: 'pending' as const,
    sealed_key: toDeviceSecrets(deviceCode).seal(key),
    key_prefix: prefix,
    key_hash: hash,
    interval_seconds: intervalSeconds,
    polled_at: now,
    requested_at: now,
    expires_at: now + lifetimeMs,
    scopes: scopes.join(' '),
  }
  const userCode = await context.database.writer.write(async (trx) => {
    const code = await createUserCode(trx)
    await dropOldestSignIn(trx, row.address_hash)
    const added = await trx
      .insertInto('sign_ins')
      .values({ ...row, user_hash: hashToken(code) })
      .returning('num')
      .executeTakeFirstOrThrow()
    await trx
      .deleteFrom('sign_ins')
      .where('num', '<=', added.num - requestsMax)
      .execute()
    return code
  })
  return { userCode: `${userCode.slice(0, 4)}-${userCode.slice(4)}`, deviceCode, intervalSeconds, lifetimeMs }
}

/** What a program gets when it polls; the errors are those of RFC 8628. */
type PollResult =
  | { readonly key: string; readonly scopes: string }
  | { readonly error: 'authorization_pending' | 'access_denied' | 'expired_token' }
  | { readonly error: 'slow_down'; readonly interval: number }

/**
 * The state of a sign-in request, with the API key once a user has allowed the request. A program gets the key only
 * once. A poll writes only the row of its request.
 */
export async function pollSignIn({ database, clock }: StorageContext, deviceCode: string): Promise<PollResult> {
  const now = clock.now()
  const id = hashToken(deviceCode)
  const row = deviceCodePattern.test(deviceCode)
    ? await database.read
        .selectFrom('sign_ins')
        .selectAll()
        .where('device_hash', '=', id)
        .where('expires_at', '>', now)
        .where('expires_at', '<=', now + lifetimeMs + skewMs)
        .executeTakeFirst()
    : undefined
  if (!row) return { error: 'expired_token' }
  const isEarly = now - row.polled_at < row.interval_seconds * 1000 - toleranceMs
  const interval = row.interval_seconds + (isEarly ? intervalSeconds : 0)
  const { numUpdatedRows } = await writeApart(database, (db) =>
    db
      .updateTable('sign_ins')
      .set({ polled_at: now, interval_seconds: interval })
      .where('device_hash', '=', id)
      // Of simultaneous polls on all nodes, one updates the row; the other polls get `slow_down`.
      .where('polled_at', '=', row.polled_at)
      .where('interval_seconds', '=', row.interval_seconds)
      .executeTakeFirst(),
  )
  if (isEarly || numUpdatedRows === 0n) return { error: 'slow_down', interval }
  if (row.state === 'pending') return { error: 'authorization_pending' }
  const { numDeletedRows } = await writeApart(database, (db) =>
    db.deleteFrom('sign_ins').where('device_hash', '=', id).executeTakeFirst(),
  )
  if (numDeletedRows === 0n) return { error: 'expired_token' }
  return row.state === 'denied'
    ? { error: 'access_denied' }
    : { key: toDeviceSecrets(deviceCode).open(row.sealed_key), scopes: row.scopes }
}

/**
 * The pending sign-in request with the code that a user typed. Throws `invalid_request` if no request has the code, and
 * `rate_limited` for a user who guesses codes; the guesses on all nodes count together.
 */
export async function findSignIn(context: StorageContext, typed: string, caller: Caller) {
  const row = await withPendingSignIn(context, typed, caller, async (_trx, found) => found)
  return { label: row.label, requestedAt: row.requested_at, scopes: parseScopes(row.scopes) }
}

/** Denies a sign-in request. Throws as {@link findSignIn}. */
export async function denySignIn(context: StorageContext, typed: string, caller: Caller): Promise<void> {
  await withPendingSignIn(context, typed, caller, (trx, row) => decideSignIn(trx, row, 'denied'))
}

/**
 * Allows a sign-in request: the program gets an API key of the caller. Throws as {@link findSignIn} and `createApiKey`;
 * after an error, the request stays pending.
 */
export async function allowSignIn(context: StorageContext, typed: string, caller: Caller): Promise<void> {
  await withPendingSignIn(context, typed, caller, async (trx, row) => {
    const secret = { prefix: row.key_prefix, hash: row.key_hash }
    const key = { name: `signed in: ${row.label}`, scopes: parseScopes(row.scopes) }
    await addApiKey(context, trx, key, caller, secret)
    await decideSignIn(trx, row, 'allowed')
  })
}

/** Deletes expired sign-in requests and expired counts of wrong codes. */
export async function sweepSignIns({ database, clock }: StorageContext): Promise<void> {
  await database.writer.write(async (trx) => {
    await trx.deleteFrom('sign_ins').where('expires_at', '<=', clock.now()).execute()
    await trx.deleteFrom('sign_in_guesses').where('until', '<=', clock.now()).execute()
  })
}

/** Encryption with the device code as key: 256 random bits that only the program has. */
function toDeviceSecrets(deviceCode: string) {
  return createSecrets(Buffer.from(deviceCode, 'base64url'))
}

async function createUserCode(trx: WriteTransaction): Promise<string> {
  for (;;) {
    const code = Array.from({ length: 8 }, () => letters[randomInt(letters.length)]).join('')
    if (!(await hasRow(trx, 'sign_ins', { user_hash: hashToken(code) }))) return code
  }
}

/** Deletes the oldest pending sign-in request of an address that has `addressPendingMax` of them. */
async function dropOldestSignIn(trx: WriteTransaction, addressHash: string): Promise<void> {
  const oldest = trx
    .selectFrom('sign_ins')
    .select('num')
    .where('address_hash', '=', addressHash)
    .where('state', '=', 'pending')
    .orderBy('num', 'desc')
    .limit(addressPendingMax)
    .offset(addressPendingMax - 1)
  await trx.deleteFrom('sign_ins').where('num', 'in', oldest).execute()
}

async function decideSignIn(trx: WriteTransaction, { num }: SignInRow, state: 'allowed' | 'denied'): Promise<void> {
  await trx.updateTable('sign_ins').set({ state }).where('num', '=', num).execute()
}

const wrongMax = 10
const guessingMs = 10 * 60_000

/**
 * Runs `work` with the pending sign-in request of a code. Write transactions of all nodes run one after another, so
 * every guess is counted and each request is decided once.
 */
async function withPendingSignIn<T>(
  { database, clock }: StorageContext,
  typed: string,
  caller: Caller,
  work: (trx: WriteTransaction, row: SignInRow) => Promise<T>,
): Promise<T> {
  const { userId } = requireAccount(caller)
  const code = typed.toUpperCase().replaceAll(/[^A-Z]/g, '')
  const done = await database.writer.write(async (trx) => {
    const now = clock.now()
    const wrong = await countGuesses(trx, userId, now)
    const row = await trx
      .selectFrom('sign_ins')
      .selectAll()
      .where('user_hash', '=', hashToken(code))
      .where('state', '=', 'pending')
      .where('expires_at', '>', now)
      .where('expires_at', '<=', now + lifetimeMs + skewMs)
      .executeTakeFirst()
    if (row) return { value: await work(trx, row) }
    const guesses = { user_id: userId, wrong: wrong + 1, until: now + guessingMs }
    await trx
      .insertInto('sign_in_guesses')
      .values(guesses)
      .onConflict((conflict) => conflict.column('user_id').doUpdateSet(wrong === 0 ? guesses : { wrong: wrong + 1 }))
      .execute()
    return undefined
  })
  if (done) return done.value
  // Thrown after the transaction: an error within it would undo the count of the guess.
  throw new RegistryError(
    'invalid_request',
    'No sign-in with this code is pending. Codes are valid for 10 minutes. Check the code, or start the sign-in again.',
  )
}

/** The number of wrong codes that a user typed recently. Throws `rate_limited` after too many. */
async function countGuesses(trx: WriteTransaction, userId: string, now: number): Promise<number> {
  const guesses = await trx
    .selectFrom('sign_in_guesses')
    .select(['wrong', 'until'])
    .where('user_id', '=', userId)
    .where('until', '>', now)
    .where('until', '<=', now + guessingMs + skewMs)
    .executeTakeFirst()
  if (!guesses) return 0
  if (guesses.wrong < wrongMax) return guesses.wrong
  const retryAfterSeconds = Math.ceil((guesses.until - now) / 1000)
  throw new RegistryError('rate_limited', `Too many wrong codes. Try again in ${retryAfterSeconds} s.`, {
    retryAfterSeconds,
  })
}
