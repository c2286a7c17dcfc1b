import { createHash } from 'node:crypto'
import { RegistryError } from '@skillstead/protocol'
import type { UserCaller } from '../kernel/caller.ts'
import type { AccountsContext } from './accounts-context.ts'

/** The stored response to the first request with an idempotency key. */
interface StoredAnswer {
  readonly status: number
  readonly body: string | null
}

/** An idempotency key that the first request with it has claimed. */
export interface IdempotentClaim {
  readonly state: 'new'
  /** Milliseconds since 1970. */
  readonly claimedAt: number
}

/** How long a response to a request with an idempotency key is stored, in milliseconds. */
export const keptMs = 24 * 60 * 60 * 1000
/** If the first request is older than this, in milliseconds, its process is assumed to have ended. */
const runningMs = 60_000

/**
 * Claims an idempotency key for a request, or finds the response to the key's first use. Throws
 * `idempotency_key_reused` for another body, and `conflict` while the first request is still running.
 */
export async function beginIdempotent(
  context: Pick<AccountsContext, 'database' | 'clock'>,
  caller: UserCaller,
  key: string,
  bodyHash: string,
): Promise<IdempotentClaim | ({ state: 'done' } & StoredAnswer)> {
  const id = toId(caller, key)
  return context.database.writer.write(async (trx) => {
    const now = context.clock.now()
    const stored = await trx.selectFrom('idempotent_answers').selectAll().where('id', '=', id).executeTakeFirst()
    const lifeMs = stored?.status === 0 ? runningMs : keptMs
    // The absolute value, so that a key from before the clock was set back does not stay claimed.
    if (stored && Math.abs(now - stored.created_at) < lifeMs) {
      if (stored.body_hash !== bodyHash) {
        throw new RegistryError(
          'idempotency_key_reused',
          'This Idempotency-Key was used with another request. Use a new key for a new request.',
        )
      }
      if (stored.status === 0) {
        throw new RegistryError('conflict', 'The first request with this Idempotency-Key is still running.', {
          retryAfterSeconds: 1,
        })
      }
      return { state: 'done', status: stored.status, body: stored.body }
    }
    const row = { id, body_hash: bodyHash, status: 0, body: null, created_at: now }
    await trx
      .insertInto('idempotent_answers')
      .values(row)
      .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
      .execute()
    return { state: 'new', claimedAt: now }
  })
}

/**
 * Stores the response under the key; null releases the key, for responses that may differ on the next try. Has no
 * effect if another request claimed the key meanwhile, because this request took too long.
 */
export async function finishIdempotent(
  context: Pick<AccountsContext, 'database'>,
  caller: UserCaller,
  key: string,
  { claimedAt }: IdempotentClaim,
  answer: StoredAnswer | null,
): Promise<void> {
  const claimed = { id: toId(caller, key), created_at: claimedAt }
  await context.database.writer.write(async (trx) => {
    if (answer)
      await trx
        .updateTable('idempotent_answers')
        .set(answer)
        .where(({ and }) => and(claimed))
        .execute()
    else
      await trx
        .deleteFrom('idempotent_answers')
        .where(({ and }) => and(claimed))
        .execute()
  })
}

/** Deletes keys that are older than a day. */
export async function sweepIdempotent(context: Pick<AccountsContext, 'database' | 'clock'>): Promise<void> {
  await context.database.writer.write(async (trx) => {
    await trx
      .deleteFrom('idempotent_answers')
      .where('created_at', '<', context.clock.now() - keptMs)
      .execute()
  })
}

function toId(caller: UserCaller, key: string): string {
  return createHash('sha256').update(`${caller.userId}\n${key}`).digest('hex')
}
