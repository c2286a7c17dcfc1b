import { withWrite } from '../storage/writer.ts'
import { createHash } from 'node:crypto'
import { RegistryError } from '@skillstead/protocol'
import type { Database } from '../storage/database.ts'
import type { UserCaller } from '../kernel/caller.ts'
import type { AccountsContext } from './accounts-context.ts'

/** The stored response to the first request with an idempotency key. */
interface StoredAnswer {
  readonly status: number
  readonly body: string | null
}

/** The claim of an idempotency key by the first request that sends it. */
export interface IdempotentClaim {
  readonly state: 'new'
  /** Milliseconds since 1970. */
  readonly claimedAt: number
}

/** How long a response to a request with an idempotency key is stored, in milliseconds. */
export const answersKeptMs = 24 * 60 * 60 * 1000
/** The stored status of a request that has no response yet. A claimed key begins as `running`. */
const states = {
  running: 0,
  /** A write of the request was committed, and the request may still be running. */
  written: 1,
  /** A write of the request was committed, and the request failed afterwards. */
  lost: 2,
} as const

/** Age of a running request, in milliseconds, from which its process is assumed to have ended. */
const runningMs = 60_000

/**
 * Claims an idempotency key for a request, or finds the response to the first request with the key. Throws
 * `idempotency_key_reused` if this request differs from the first request. Throws `conflict` while the first request is
 * running, and if the first request stored something but its response was lost: another run could store the same twice.
 */
export async function beginIdempotent(
  context: Pick<AccountsContext, 'database' | 'clock'>,
  caller: UserCaller,
  key: string,
  bodyHash: string,
): Promise<IdempotentClaim | ({ state: 'done' } & StoredAnswer)> {
  const id = toIdempotencyId(caller, key)
  return context.database.writer.write(async (trx) => {
    const now = context.clock.now()
    const stored = await trx.selectFrom('idempotent_answers').selectAll().where('id', '=', id).executeTakeFirst()
    const lifeMs = stored?.status === states.running ? runningMs : answersKeptMs
    // Compares the absolute value, so that a key that was claimed before the clock was set back does not stay claimed.
    if (stored && Math.abs(now - stored.created_at) < lifeMs) {
      if (stored.body_hash !== bodyHash) {
        throw new RegistryError(
          'idempotency_key_reused',
          'This Idempotency-Key was used with another request. Use a new key for a new request.',
        )
      }
      if (
        stored.status === states.lost ||
        (stored.status === states.written && Math.abs(now - stored.created_at) >= runningMs)
      ) {
        throw new RegistryError(
          'conflict',
          'The first request with this Idempotency-Key was stored, but its response was lost. Read what it stored, or send a new key to repeat it.',
        )
      }
      if (stored.status === states.running || stored.status === states.written) {
        throw new RegistryError(
          'conflict',
          'The first request with this Idempotency-Key is still running. Try again in a second.',
          {
            retryAfterSeconds: 1,
          },
        )
      }
      return { state: 'done', status: stored.status, body: stored.body }
    }
    const row = { id, body_hash: bodyHash, status: states.running, body: null, created_at: now }
    await trx
      .insertInto('idempotent_answers')
      .values(row)
      .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
      .execute()
    return { state: 'new', claimedAt: now }
  })
}

/**
 * Returns the database with a writer that marks the claimed key as `written` in the transaction of each write. So the
 * mark is stored even if a commit succeeds and its acknowledgement is lost.
 */
export function noteWrites(
  { database }: Pick<AccountsContext, 'database'>,
  caller: UserCaller,
  key: string,
  { claimedAt }: IdempotentClaim,
): { readonly database: Database } {
  const { writer } = database
  const write: typeof writer.write = (work, options) =>
    writer.write(async (trx) => {
      const value = await work(trx)
      await trx
        .updateTable('idempotent_answers')
        .set({ status: states.written })
        .where(({ and }) => and({ id: toIdempotencyId(caller, key), created_at: claimedAt, status: states.running }))
        .execute()
      return value
    }, options)
  return { database: { ...database, writer: withWrite(writer, write) } }
}

/**
 * How a request ended: with a response that is stored; `refused` with an error that a retry may avoid, such as a rate
 * limit; or `failed` with an error of the node.
 */
export type IdempotentEnd = StoredAnswer | 'refused' | 'failed'

/**
 * Stores the response under the key, or releases the key for another try. If the request failed after one of its writes
 * was committed, the key is not released, but marked as `lost`. Has no effect if another request claimed the key
 * meanwhile, because this request took too long.
 */
export async function finishIdempotent(
  context: Pick<AccountsContext, 'database'>,
  caller: UserCaller,
  key: string,
  { claimedAt }: IdempotentClaim,
  end: IdempotentEnd,
): Promise<void> {
  const claimed = { id: toIdempotencyId(caller, key), created_at: claimedAt }
  await context.database.writer.write(async (trx) => {
    const update = trx.updateTable('idempotent_answers').where(({ and }) => and(claimed))
    if (typeof end === 'object') return void (await update.set(end).execute())
    if (end === 'failed') await update.set({ status: states.lost }).where('status', '=', states.written).execute()
    await trx
      .deleteFrom('idempotent_answers')
      .where(({ and }) => and(end === 'failed' ? { ...claimed, status: states.running } : claimed))
      .execute()
  })
}

/** Deletes idempotency keys that are older than a day. */
export async function sweepIdempotent(context: Pick<AccountsContext, 'database' | 'clock'>): Promise<void> {
  await context.database.writer.write(async (trx) => {
    await trx
      .deleteFrom('idempotent_answers')
      .where('created_at', '<', context.clock.now() - answersKeptMs)
      .execute()
  })
}

function toIdempotencyId(caller: UserCaller, key: string): string {
  return createHash('sha256').update(`${caller.userId}\n${key}`).digest('hex')
}
