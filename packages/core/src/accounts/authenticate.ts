import { timingSafeEqual } from 'node:crypto'
import { RegistryError, type Scope } from '@skillstead/protocol'
import type { UserCaller } from '../kernel/caller.ts'
import type { Clock } from '../kernel/clock.ts'
import { type Param, compileQuery } from '../storage/compiled-query.ts'
import type { Database } from '../storage/database.ts'
import type { ApiKeyRow, UserRow } from '../storage/tables.ts'
import { hashToken } from '../kernel/tokens.ts'
import { hashKey, isKey } from './api-keys.ts'

/** Finds the user of a key, or of a session that was created with a key. */
export interface Authenticator {
  /** Throws `unauthorized` for a key that is malformed, unknown, expired or deleted, or whose user is disabled. */
  authenticate(key: string): Promise<UserCaller>
  /** Like `authenticate`, for a session token. A session ends no later than its key. */
  authenticateSession(token: string): Promise<UserCaller>
  /** Writes the keys' times of last use, which are buffered in memory. */
  flush(): Promise<void>
}

type KeyRow = Pick<ApiKeyRow, 'id' | 'hash' | 'scopes' | 'expires_at' | 'last_used_at' | 'user_id'> &
  Pick<UserRow, 'username' | 'plan' | 'role' | 'disabled'>

/**
 * Interval in milliseconds at which a key's time of last use is written. Writing it for each request would make every
 * read a write.
 */
const lastUsePrecisionMs = 60_000
const keyRefusal = 'This API key is not valid. It may be mistyped, expired or deleted.'
const sessionRefusal = 'This session has ended. Sign in again with an API key.'

const fields = [
  'api_keys.id',
  'api_keys.hash',
  'api_keys.scopes',
  'api_keys.expires_at',
  'api_keys.last_used_at',
  'api_keys.user_id',
  'users.username',
  'users.plan',
  'users.role',
  'users.disabled',
] as const

const selectKey = compileQuery((db, param: Param<{ hash: string }>) =>
  db
    .selectFrom('api_keys')
    .innerJoin('users', 'users.id', 'api_keys.user_id')
    .select(fields)
    .where('api_keys.hash', '=', param('hash')),
)

const selectKeyOfSession = compileQuery((db, param: Param<{ id: string; now: number }>) =>
  db
    .selectFrom('sessions')
    .innerJoin('api_keys', 'api_keys.id', 'sessions.key_id')
    .innerJoin('users', 'users.id', 'api_keys.user_id')
    .select(fields)
    .where('sessions.id', '=', param('id'))
    .where('sessions.expires_at', '>', param('now')),
)

export function createAuthenticator(
  database: Database,
  clock: Clock,
  onError: (error: unknown) => void,
): Authenticator {
  const used = new Map<string, number>()
  let writing: Promise<void> | undefined

  /** Repeats while keys are used during a write. If a write fails, the next use of any key writes the times. */
  async function writeUses(): Promise<void> {
    while (used.size > 0) {
      const uses = [...used]
      await database.writer.write(async (trx) => {
        for (const [id, at] of uses)
          await trx.updateTable('api_keys').set({ last_used_at: at }).where('id', '=', id).execute()
      })
      for (const [id, at] of uses) if (used.get(id) === at) used.delete(id)
    }
  }

  function noteUse(row: KeyRow): void {
    if (database.isReadOnly) return
    const now = clock.now()
    const lastUsedAt = used.get(row.id) ?? row.last_used_at ?? -Infinity
    // A last use in the future, from before the clock was set back, is replaced.
    if (Math.abs(now - lastUsedAt) < lastUsePrecisionMs) return
    used.set(row.id, now)
    writing ??= writeUses()
      .catch(onError)
      .finally(() => (writing = undefined))
  }

  function admit(row: KeyRow | undefined, refusal: string): KeyRow {
    if (!row || row.disabled || (row.expires_at !== null && row.expires_at <= clock.now())) {
      throw new RegistryError('unauthorized', refusal)
    }
    noteUse(row)
    return row
  }

  return {
    async authenticate(key) {
      const row = admit(isKey(key) ? await findKey(database, key) : undefined, keyRefusal)
      return toKeyCaller(row, row.id)
    },
    async authenticateSession(token) {
      const [row] = await selectKeyOfSession(database.read, { id: hashToken(token), now: clock.now() })
      return toKeyCaller(admit(row, sessionRefusal))
    },
    async flush() {
      await writing
    },
  }
}

async function findKey(database: Database, key: string): Promise<KeyRow | undefined> {
  const hash = hashKey(key)
  const [row] = await selectKey(database.read, { hash })
  // The index lookup already compared the hashes, and its timing reveals a hash, not a key. The comparison here is
  // constant-time anyway.
  return row && timingSafeEqual(Buffer.from(row.hash), Buffer.from(hash)) ? row : undefined
}

function toKeyCaller(row: KeyRow, keyId?: string): UserCaller {
  const { id: makerId, user_id: userId, username, plan, role } = row
  return { kind: 'user', userId, username, plan, role, scopes: row.scopes.split(' ') as Scope[], keyId, makerId }
}
