import { timingSafeEqual } from 'node:crypto'
import { RegistryError, type Scope } from '@skillstead/protocol'
import type { UserCaller } from '../caller.ts'
import type { Clock } from '../clock.ts'
import { keepCompiled } from '../storage/compiled-query.ts'
import type { Database } from '../storage/database.ts'
import type { ApiKeyRow, UserRow } from '../storage/tables.ts'
import { hashKey, isKey } from './api-key-format.ts'

/** Tells who holds a key. */
export interface Authenticator {
  /** Throws `unauthorized` for a key that is malformed, unknown, expired or deleted, or whose user is shut out. */
  authenticate(key: string): Promise<UserCaller>
  /** Writes when keys were last used. */
  flush(): Promise<void>
}

type KeyRow = Pick<ApiKeyRow, 'id' | 'hash' | 'scopes' | 'expires_at' | 'last_used_at' | 'user_id'> &
  Pick<UserRow, 'username' | 'plan' | 'role' | 'disabled'>

/** How exactly the last use of a key is known; a row written at every request would make every read a write. */
const lastUsePrecisionMs = 60_000
const refusal = 'This API key is not valid. It may be mistyped, expired or deleted.'

const selectKey = keepCompiled<KeyRow>((db) =>
  db
    .selectFrom('api_keys')
    .innerJoin('users', 'users.id', 'api_keys.user_id')
    .select([
      'api_keys.id',
      'hash',
      'scopes',
      'expires_at',
      'last_used_at',
      'user_id',
      'username',
      'plan',
      'role',
      'disabled',
    ])
    .where('hash', '=', ''),
)

export function createAuthenticator(
  database: Database,
  clock: Clock,
  onError: (error: unknown) => void,
): Authenticator {
  const used = new Map<string, number>()
  let writing: Promise<void> | undefined

  async function writeUses(): Promise<void> {
    const uses = [...used]
    await database.writer.write(async (trx) => {
      for (const [id, at] of uses)
        await trx.updateTable('api_keys').set({ last_used_at: at }).where('id', '=', id).execute()
    })
    for (const [id, at] of uses) if (used.get(id) === at) used.delete(id)
  }

  function noteUse(row: KeyRow): void {
    const now = clock.now()
    if (now - Math.max(row.last_used_at ?? 0, used.get(row.id) ?? 0) < lastUsePrecisionMs) return
    used.set(row.id, now)
    writing ??= writeUses()
      .catch(onError)
      .finally(() => (writing = undefined))
  }

  return {
    async authenticate(key) {
      const row = isKey(key) ? await findKey(database, key) : undefined
      if (!row || row.disabled || (row.expires_at !== null && row.expires_at <= clock.now())) {
        throw new RegistryError('unauthorized', refusal)
      }
      noteUse(row)
      const { user_id: userId, username, plan, role } = row
      return { kind: 'user', userId, username, plan, role, scopes: row.scopes.split(' ') as Scope[] }
    },
    async flush() {
      await writing
    },
  }
}

async function findKey(database: Database, key: string): Promise<KeyRow | undefined> {
  const hash = hashKey(key)
  const [row] = await selectKey(database.read, hash)
  // The index compared the hashes already, but how long that took tells of a hash, not of a key; this holds anyway.
  return row && timingSafeEqual(Buffer.from(row.hash), Buffer.from(hash)) ? row : undefined
}
