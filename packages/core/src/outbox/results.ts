import { isRegistryError } from '@skillstead/protocol'
import pRetry from 'p-retry'
import type { Clock } from '../kernel/clock.ts'
import type { Database } from '../storage/database.ts'
import { toRegistryError } from '../storage/storage-error.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { parsePayload } from './attempts.ts'
import { type AttemptResult, writeResults } from './claims.ts'
import type { EndedJob, OutboxHandler } from './jobs.ts'
import type { Leases } from './leases.ts'

interface ResultsParts {
  readonly database: Database
  readonly clock: Clock
  readonly handlers: ReadonlyMap<string, OutboxHandler<object>>
  readonly leases: Leases
  readonly onError: (error: unknown) => void
  /** Awaited before each commit, so that more results join it. */
  gather(): Promise<unknown>
  /** Called after rows were written that will be tried again. */
  onRetry(): void
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
export class Results {
  readonly #parts: ResultsParts
  #queued: AttemptResult[] = []
  #writing: Promise<void> | undefined
  #isStopping = false

  constructor(parts: ResultsParts) {
    this.#parts = parts
  }

  add(result: AttemptResult): void {
    this.#queued.push(result)
    this.#writing ??= this.#write()
  }

  /** Writes the remaining results, without retries while the storage is unavailable. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await this.#writing
    this.#isStopping = false
  }

  async #write(): Promise<void> {
    try {
      while (this.#queued.length > 0) {
        await this.#parts.gather()
        await this.#writeBatch(this.#queued.splice(0))
      }
    } finally {
      this.#writing = undefined
    }
  }

  async #writeBatch(results: readonly AttemptResult[]): Promise<void> {
    const { leases, onRetry } = this.#parts
    // Other workers own the rows whose leases this process lost.
    const batch = results.filter(({ row }) => leases.isLeased(row))
    const topics = Map.groupBy(batch, ({ row }) => row.topic)
    await Promise.all([...topics].map(([topic, ofTopic]) => this.#writeTopic(topic, ofTopic)))
    leases.drop(batch.map(({ row }) => row))
    if (batch.some(({ state }) => state === 'pending')) onRetry()
  }

  /**
   * Writes the results of one topic. If `afterwards` fails, each row is written separately, so that one failing row
   * does not affect the others.
   */
  async #writeTopic(topic: string, batch: readonly AttemptResult[]): Promise<void> {
    const { database, onError } = this.#parts
    try {
      await pRetry(() => database.writer.write((trx) => this.#writeRows(trx, topic, batch)), {
        ...retries,
        shouldRetry: ({ error }) => isStorageUnavailable(error) && !this.#isStopping,
      })
    } catch (error) {
      if (batch.length === 1 || isStorageUnavailable(error)) return onError(error)
      await Promise.all(batch.map((result) => this.#writeTopic(topic, [result])))
    }
  }

  async #writeRows(trx: WriteTransaction, topic: string, batch: readonly AttemptResult[]): Promise<void> {
    const { database, clock, handlers } = this.#parts
    const written = await writeResults(database.dialect, trx, batch)
    const now = clock.now()
    const ended = batch.flatMap(({ row, state, startedAt }): EndedJob[] => {
      if (state === 'pending' || !written.has(row.id)) return []
      const { id, partition, payload, attempts } = row
      const job = { id, partition, payload: parsePayload(payload) ?? {}, attempts: attempts + 1 }
      return [{ ...job, state, startedAt: Math.min(startedAt, now) }]
    })
    if (ended.length > 0) await handlers.get(topic)!.afterwards?.(trx, ended)
  }
}

function isStorageUnavailable(error: unknown): boolean {
  return isRegistryError(toRegistryError(error), 'overloaded')
}
