import { timingSafeEqual } from 'node:crypto'
import { RegistryError, scopes as allScopes } from '@skillstead/protocol'
import type { Caller, UserCaller } from '../kernel/caller.ts'
import type { Clock } from '../kernel/clock.ts'
import { recordAudit } from '../log/audit.ts'
import { type Param, compileQuery } from '../storage/compiled-query.ts'
import type { Database } from '../storage/database.ts'
import { type ApiKeyRow, parseJson, type UserRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { hashToken } from '../kernel/tokens.ts'
import { hashKey, isKey, parseScopes } from './api-keys.ts'
import { sessionIdleMs } from './sessions.ts'

/** Finds the user of a key or of a session. */
export interface Authenticator {
  /** Throws `unauthorized` for a key that is malformed, unknown, expired or deleted, or whose user is disabled. */
  authenticate(key: string): Promise<UserCaller>
  /** Like `authenticate`, for a session token. A session ends no later than the key that opened it. */
  authenticateSession(token: string): Promise<UserCaller>
  /** Waits until the times of last use of keys and sessions, which are buffered in memory, are written. */
  flush(): Promise<void>
}

type KeyRow = Admitted & Pick<ApiKeyRow, 'id' | 'hash'>

/**
 * Interval in milliseconds at which the time of last use of a key or session is written. Writing it for each request
 * would make every read a write.
 */
const lastUsePrecisionMs = 60_000
const keyRefusal = 'This API key is not valid. It may be mistyped, expired or deleted.'
const sessionRefusal = 'This session has ended. Sign in again.'

const fields = [
  'api_keys.id',
  'api_keys.scopes',
  'api_keys.expires_at',
  'api_keys.last_used_at',
  'api_keys.limited_to',
  'api_keys.identity',
  'users.id as user',
  'users.username',
  'users.plan',
  'users.role',
  'users.disabled',
] as const

const selectKey = compileQuery((db, param: Param<{ hash: string }>) =>
  db
    .selectFrom('api_keys')
    .innerJoin('users', 'users.id', 'api_keys.user_id')
    .select([...fields, 'api_keys.hash'])
    .where('api_keys.hash', '=', param('hash')),
)

const selectSession = compileQuery((db, param: Param<{ id: string; now: number; usedAfter: number }>) =>
  db
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .leftJoin('api_keys', 'api_keys.id', 'sessions.key_id')
    .select([...fields, 'sessions.id as session_id', 'sessions.used_at'])
    .where('sessions.id', '=', param('id'))
    .where('sessions.expires_at', '>', param('now'))
    .where('sessions.used_at', '>', param('usedAfter')),
)

export function createAuthenticator(
  database: Database,
  clock: Clock,
  onError: (error: unknown) => void,
): Authenticator {
  const used = new Map<string, Use>()
  let writing: Promise<void> | undefined

  /**
   * Writes the buffered times of last use, until no key or session was used during a write. After a failed write, the
   * next use of any key or session writes the times.
   */
  async function writeUses(): Promise<void> {
    while (used.size > 0) {
      const uses = [...used]
      await database.writer.write(async (trx) => {
        for (const [id, { kind, at, first }] of uses) {
          if (first) await recordFirstUse(trx, id, { at, first })
          if (kind === 'key') await trx.updateTable('api_keys').set({ last_used_at: at }).where('id', '=', id).execute()
          else await trx.updateTable('sessions').set({ used_at: at }).where('id', '=', id).execute()
        }
      })
      for (const [id, use] of uses) if (used.get(id) === use) used.delete(id)
    }
  }

  function noteUse(kind: Use['kind'], id: string, stored: number | null, first?: Caller): void {
    if (database.isReadOnly) return
    const now = clock.now()
    const lastUsedAt = used.get(id)?.at ?? stored ?? -Infinity
    // Compares the absolute value: a time in the future, stored before the clock was set back, is replaced.
    if (Math.abs(now - lastUsedAt) < lastUsePrecisionMs) return
    used.set(id, { kind, at: now, first })
    writing ??= writeUses()
      .catch(onError)
      .finally(() => (writing = undefined))
  }

  function admit<Row extends Admitted>(row: Row | undefined, refusal: string): Row {
    if (!row || row.disabled || (row.expires_at !== null && row.expires_at <= clock.now())) {
      throw new RegistryError('unauthorized', refusal)
    }
    // The first use of a CI job's key is not recorded: the audit log has the exchange by which the job got the key.
    const isFirst = row.last_used_at === null && row.identity === null
    if (row.id !== null) noteUse('key', row.id, row.last_used_at, isFirst ? toCaller(row) : undefined)
    return row
  }

  return {
    async authenticate(key) {
      const row = admit(isKey(key) ? await findKey(database, key) : undefined, keyRefusal)
      return { ...toCaller(row), keyId: row.id }
    },
    async authenticateSession(token) {
      const now = clock.now()
      const [found] = await selectSession(database.read, { id: hashToken(token), now, usedAfter: now - sessionIdleMs })
      const row = admit(found, sessionRefusal)
      noteUse('session', row.session_id, row.used_at)
      return { ...toCaller(row), sessionId: row.session_id }
    },
    async flush() {
      await writing
    },
  }
}

/** A use of a key or session that is not stored yet. `first` is the user of a key that was not used before. */
interface Use {
  readonly kind: 'key' | 'session'
  readonly at: number
  readonly first: Caller | undefined
}

/**
 * Records the first use of a key in the audit log. Several nodes may see a first use: the node that stores it first
 * records it.
 */
async function recordFirstUse(trx: WriteTransaction, id: string, { at, first }: { at: number; first: Caller }) {
  const key = await trx
    .selectFrom('api_keys')
    .select('name')
    .where('id', '=', id)
    .where('last_used_at', 'is', null)
    .executeTakeFirst()
  if (key) await recordAudit(trx, { caller: first, action: 'key.use', subject: id, at, data: { name: key.name } })
}

async function findKey(database: Database, key: string): Promise<KeyRow | undefined> {
  const hash = hashKey(key)
  const [row] = await selectKey(database.read, { hash })
  // The index lookup already compared the hashes, and its timing reveals a hash, not a key. The comparison here is
  // constant-time anyway.
  return row && timingSafeEqual(Buffer.from(row.hash), Buffer.from(hash)) ? row : undefined
}

/**
 * The row of a key or a session, with its user. A session has the permissions of the key that opened it, or, without a
 * key, those of its user.
 */
type Admitted = Pick<UserRow, 'username' | 'plan' | 'role' | 'disabled'> & {
  readonly [K in 'id' | 'scopes' | 'expires_at' | 'last_used_at' | 'limited_to' | 'identity']: ApiKeyRow[K] | null
} & { readonly user: string }

function toCaller(row: Admitted): UserCaller {
  const { id, user: userId, username, plan, role } = row
  const scopes = row.scopes === null ? allScopes : parseScopes(row.scopes)
  const limitedTo = row.limited_to ?? undefined
  const identity = row.identity === null ? undefined : parseJson(row.identity)
  return { kind: 'user', userId, username, plan, role, scopes, makerId: id ?? undefined, limitedTo, identity }
}
