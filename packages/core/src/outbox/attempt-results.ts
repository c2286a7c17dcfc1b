import { RegistryError } from '@skillstead/protocol'
import pRetry from 'p-retry'
import type { Clock } from '../kernel/clock.ts'
import type { Database } from '../storage/database.ts'
import { toRegistryError } from '../storage/storage-error.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { type AttemptResult, type ClaimedRow, leaseMs, releaseRows, renewRows, writeResults } from './claims.ts'
import type { EndedJob, OutboxHandler } from './outbox.ts'

interface Parts {
  readonly database: Database
  readonly clock: Clock
  readonly handlers: ReadonlyMap<string, OutboxHandler>
  readonly leases: Leases
  readonly onError: (error: unknown) => void
}

/**
 * Retries of a write take at most 6.3 s, well within a lease, so that a short failure of the storage does not make
 * completed jobs run again.
 */
const retries = { retries: 6, minTimeout: 100, factor: 2 }

/**
 * Writes the results of attempts in batches. A result that cannot be written is lost, and the job runs again after its
 * lease expires.
 */
export function createAttemptResults({ database, clock, handlers, leases, onError }: Parts) {
  let queued: AttemptResult[] = []
  let writing: Promise<boolean> | undefined
  let isStopping = false

  async function writeBatch(): Promise<boolean> {
    // Drop the rows whose leases this process lost: other workers own them.
    const batch = queued.splice(0).filter(({ row }) => leases.isLeased(row))
    const topics = Map.groupBy(batch, ({ row }) => row.topic)
    await Promise.all([...topics].map(([topic, ofTopic]) => writeTopic(handlers.get(topic)!, ofTopic)))
    leases.drop(batch.map(({ row }) => row))
    return batch.some(({ state }) => state === 'pending')
  }

  /**
   * Writes the results of one topic. If `afterwards` fails, each row is written separately, so that one failing row
   * does not affect the others.
   */
  async function writeTopic(handler: OutboxHandler, batch: readonly AttemptResult[]): Promise<void> {
    const write = () => database.writer.write((trx) => writeAndNotify(trx, handler, batch))
    try {
      await pRetry(write, { ...retries, shouldRetry: ({ error }) => isUnavailable(error) && !isStopping })
    } catch (error) {
      if (batch.length === 1 || isUnavailable(error)) return onError(error)
      await Promise.all(batch.map((result) => writeTopic(handler, [result])))
    }
  }

  async function writeAndNotify(trx: WriteTransaction, handler: OutboxHandler, batch: readonly AttemptResult[]) {
    const written = await writeResults(database.dialect, trx, batch)
    const now = clock.now()
    const ended = batch.flatMap(({ row, state, startedAt }) =>
      written.has(row.id) && state !== 'pending' ? [toEnded(row, state, Math.min(startedAt, now))] : [],
    )
    if (ended.length > 0) await handler.afterwards?.(trx, ended)
  }

  return {
    add: (result: AttemptResult) => void queued.push(result),
    /** Number of results that are not written yet. */
    get size() {
      return queued.length
    },
    get isWriting() {
      return writing !== undefined
    },
    /** Writes the queued results, one batch at a time. Returns whether one of the rows will be tried again. */
    async write(): Promise<boolean> {
      writing ??= writeBatch().finally(() => (writing = undefined))
      return writing
    },
    /** Writes the remaining results, without retries while the storage is unavailable. */
    async stop(): Promise<void> {
      isStopping = true
      while (writing || queued.length > 0) await this.write()
      isStopping = false
    },
  }
}

function isUnavailable(error: unknown): boolean {
  const known = toRegistryError(error)
  return known instanceof RegistryError && known.code === 'overloaded'
}

function toEnded(
  { id, partition, payload, attempts }: ClaimedRow,
  state: 'done' | 'failed',
  startedAt: number,
): EndedJob {
  return { id, partition, payload: readPayload(payload), state, attempts: attempts + 1, startedAt }
}

/** An attempt with a payload that cannot be parsed has already failed. The row must still be completed. */
function readPayload(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return {}
  }
}

interface LeaseParts {
  readonly database: Database
  readonly clock: Clock
  readonly onError: (error: unknown) => void
}

/** The rows that this process leases. Renews their leases until they are dropped. */
export function createLeases({ database, clock, onError }: LeaseParts) {
  const leased = new Map<string, ClaimedRow>()
  let cancelRenewal: (() => void) | undefined

  function planRenewal(): void {
    cancelRenewal ??= clock.setTimer(leaseMs / 3, () => {
      cancelRenewal = undefined
      void renew().catch(onError)
    })
  }

  function isLeased(row: ClaimedRow): boolean {
    return leased.get(row.id) === row
  }

  function drop(rows: readonly ClaimedRow[]): void {
    for (const row of rows) if (isLeased(row)) leased.delete(row.id)
  }

  /** Renews all leases, and forgets rows that other workers took meanwhile: those workers write the result. */
  async function renew(): Promise<void> {
    if (leased.size === 0) return
    planRenewal()
    const rows = [...leased.values()]
    const renewed = await renewRows(database, rows, clock.now())
    drop(rows.filter(({ id }) => !renewed.has(id)))
  }

  return {
    isLeased,
    drop,
    renew,
    has: (id: string) => leased.has(id),
    add(rows: readonly ClaimedRow[]): void {
      for (const row of rows) leased.set(row.id, row)
      if (rows.length > 0) planRenewal()
    },
    /** Releases rows, so that the next claim of any worker can take them. */
    async release(rows: readonly ClaimedRow[]): Promise<void> {
      const own = rows.filter(isLeased)
      drop(own)
      if (own.length > 0) await releaseRows(database, own)
    },
    /** Stops renewing: the leases that remain expire. */
    stop(): void {
      cancelRenewal?.()
      cancelRenewal = undefined
      leased.clear()
    },
  }
}

type Leases = ReturnType<typeof createLeases>
