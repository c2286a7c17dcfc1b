import { RegistryError, toTimestamp } from '@skillstead/protocol'
import { requireAccount } from '../kernel/caller.ts'
import { hourMs } from '../kernel/clock.ts'
import type { Operation } from '../kernel/operation-input.ts'
import { createToken, hashToken } from '../kernel/tokens.ts'
import { recordAudit } from '../log/audit.ts'
import { readPage } from '../storage/read-page.ts'
import type { StorageContext } from '../storage/storage-context.ts'
import { removeRows } from '../storage/table-rows.ts'
import type { SessionRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import type { AccountsContext } from './accounts-context.ts'
import { requireMaker } from './api-keys.ts'
import { findAccount } from './find-user.ts'

/** Maximum lifetime of a session. */
export const sessionLifetimeMs = 12 * hourMs
/** A session that is unused for this time ends. */
export const sessionIdleMs = 4 * hourMs
/**
 * Maximum number of sessions per API key, or per user of an identity provider. A sign-in beyond this number ends the
 * oldest session.
 */
const sessionsMax = 100

/**
 * POST /session: creates a session for the API key that the caller sent. The session ends when it expires or is unused
 * for too long, when the key ends, or when the user is disabled. A session cannot create another session: a stolen
 * session could otherwise be extended without end.
 */
export const createSession: Operation<'createSession', AccountsContext> = async (context, _input, caller) => {
  const user = requireAccount(caller)
  const { keyId, userId } = user
  if (keyId === undefined)
    throw new RegistryError('forbidden', 'Only an API key opens a session: `Authorization: Bearer ssk_...`.')
  if (!context.localSignIn)
    throw new RegistryError(
      'forbidden',
      'This node does not accept API keys for the sign-in to its dashboard. Sign in with the identity provider.',
    )
  const now = context.clock.now()
  const { token, expiresAt } = await context.database.writer.write(async (trx) => {
    const endsAt = Math.min(now + sessionLifetimeMs, (await requireMaker(trx, user, now)).endsAt)
    await recordAudit(trx, { caller, action: 'session.create', subject: user.username, at: now, data: { keyId } })
    return insertSession(trx, { user_id: userId, key_id: keyId, created_at: now, expires_at: endsAt })
  })
  return { expiresAt: toTimestamp(expiresAt), session: token }
}

/** Stores a session and returns its token. Ends the oldest session of a key or user that has `sessionsMax` sessions. */
export async function insertSession(
  trx: WriteTransaction,
  session: Pick<SessionRow, 'user_id' | 'key_id' | 'created_at' | 'expires_at'> &
    Partial<Pick<SessionRow, 'issuer' | 'refresh_token' | 'refresh_at'>>,
): Promise<{ token: string; expiresAt: number }> {
  const { token, hash } = createToken('sss')
  const oldest = trx
    .selectFrom('sessions')
    .select('id')
    .where('user_id', '=', session.user_id)
    .where('key_id', session.key_id === null ? 'is' : '=', session.key_id)
    .orderBy('created_at', 'desc')
    .limit(sessionsMax)
    .offset(sessionsMax - 1)
  await trx.deleteFrom('sessions').where('id', 'in', oldest).execute()
  await trx
    .insertInto('sessions')
    .values({ id: hash, used_at: session.created_at, ...session })
    .execute()
  return { token, expiresAt: session.expires_at }
}

/** DELETE /session: ends the session whose token was sent. Does nothing, without an error, if there is no token. */
export const deleteSession: Operation<'deleteSession', StorageContext> = async (
  context,
  _input,
  _caller,
  options = {},
) => {
  const { sessionToken } = options
  if (sessionToken === undefined) return
  await context.database.writer.write((trx) => removeRows(trx, 'sessions', { id: hashToken(sessionToken) }))
}

/** GET /sessions: the sessions of the caller, or of the user whom an administrator names; newest first. */
export const listSessions: Operation<'listSessions', StorageContext> = async (context, input, caller) => {
  const { id } = await findAccount(context, input.username, caller)
  const now = context.clock.now()
  const matching = context.database.read
    .selectFrom('sessions')
    .leftJoin('api_keys', 'api_keys.id', 'sessions.key_id')
    .where('sessions.user_id', '=', id)
    .where('sessions.expires_at', '>', now)
    .where('sessions.used_at', '>', now - sessionIdleMs)
  const shown = matching
    .selectAll('sessions')
    .select('api_keys.name')
    .orderBy('sessions.created_at', 'desc')
    .orderBy('sessions.id', 'desc')
  const { rows, paging } = await readPage(matching, shown, input)
  const sessions = rows.map((row) => ({
    id: row.id,
    openedBy: row.name ?? row.issuer ?? '',
    createdAt: toTimestamp(row.created_at),
    lastUsedAt: toTimestamp(Math.min(row.used_at, now)),
    expiresAt: toTimestamp(row.expires_at),
    current: caller.kind === 'user' && caller.sessionId === row.id,
  }))
  return { sessions, ...paging }
}

/**
 * DELETE /sessions/<id>: ends a session of the caller. Administrators may end sessions of any user. Throws `not_found`.
 */
export const endSession: Operation<'endSession', StorageContext> = async (context, { id }, caller) => {
  const { userId, role } = requireAccount(caller)
  await context.database.writer.write(async (trx) => {
    const ended = await trx
      .deleteFrom('sessions')
      .where('id', '=', id)
      .$if(role !== 'admin', (removal) => removal.where('user_id', '=', userId))
      .returning('user_id')
      .executeTakeFirst()
    if (!ended) throw new RegistryError('not_found', 'You have no session with this id.')
    const { username } = await trx
      .selectFrom('users')
      .select('username')
      .where('id', '=', ended.user_id)
      .executeTakeFirstOrThrow()
    await recordAudit(trx, { caller, action: 'session.end', subject: username, at: context.clock.now() })
  })
}

/** Deletes the sessions that have ended, and the expired rows of `used_states`. */
export async function sweepSessions({ database, clock }: Pick<AccountsContext, 'database' | 'clock'>): Promise<void> {
  const now = clock.now()
  await database.writer.write(async (trx) => {
    await trx
      .deleteFrom('sessions')
      .where((eb) => eb.or([eb('expires_at', '<=', now), eb('used_at', '<=', now - sessionIdleMs)]))
      .execute()
    await trx.deleteFrom('used_states').where('expires_at', '<=', now).execute()
  })
}
