import { RegistryError, toTimestamp } from '@skillstead/protocol'
import type { StorageContext } from '../storage/storage-context.ts'
import { requireAccount, type Caller } from '../kernel/caller.ts'
import type { CallOptions } from '../kernel/call-options.ts'
import type { AccountsContext } from './accounts-context.ts'
import { recordAudit } from '../log/audit.ts'
import { requireMaker } from './api-keys.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { createToken, hashToken } from '../kernel/tokens.ts'

const lifetimeMs = 12 * 60 * 60 * 1000
/** Maximum number of sessions per key. A further sign-in ends the key's oldest session. */
const sessionsPerKeyMax = 100

/**
 * POST /session: creates a session with the key in use. The session ends when it expires, the key ends or the user is
 * disabled. A session cannot create another: a stolen session could then be extended without end.
 */
export async function createSession(context: StorageContext, _input: object, caller: Caller) {
  const user = requireAccount(caller)
  const { keyId } = user
  if (keyId === undefined)
    throw new RegistryError('forbidden', 'Only an API key opens a session: `Authorization: Bearer ssk_...`.')
  const { token, hash } = createToken('sss')
  const now = context.clock.now()
  const expiresAt = await context.database.writer.write(async (trx) => {
    const endsAt = Math.min(now + lifetimeMs, (await requireMaker(trx, user, now)).endsAt)
    await endOldestSession(trx, keyId)
    await trx.insertInto('sessions').values({ id: hash, key_id: keyId, created_at: now, expires_at: endsAt }).execute()
    await recordAudit(trx, { caller, action: 'session.create', subject: user.username, at: now, data: { keyId } })
    return endsAt
  })
  return { expiresAt: toTimestamp(expiresAt), session: token }
}

/** DELETE /session: ends the session whose token was sent. Does nothing, without an error, if there is no token. */
export async function deleteSession(
  context: StorageContext,
  _input: object,
  _caller: Caller,
  options: CallOptions = {},
): Promise<undefined> {
  const { sessionToken } = options
  if (sessionToken === undefined) return
  await context.database.writer.write(async (trx) => {
    await trx.deleteFrom('sessions').where('id', '=', hashToken(sessionToken)).execute()
  })
}

/** Deletes the sessions that have ended. */
export async function sweepSessions({ database, clock }: Pick<AccountsContext, 'database' | 'clock'>): Promise<void> {
  await database.writer.write(async (trx) => {
    await trx.deleteFrom('sessions').where('expires_at', '<=', clock.now()).execute()
  })
}

async function endOldestSession(trx: WriteTransaction, keyId: string): Promise<void> {
  const oldest = trx
    .selectFrom('sessions')
    .select('id')
    .where('key_id', '=', keyId)
    .orderBy('created_at', 'desc')
    .limit(sessionsPerKeyMax)
    .offset(sessionsPerKeyMax - 1)
  await trx.deleteFrom('sessions').where('id', 'in', oldest).execute()
}
