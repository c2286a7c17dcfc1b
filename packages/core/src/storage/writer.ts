import { setImmediate } from 'node:timers/promises'
import { CompiledQuery, type DatabaseConnection, sql, type Transaction } from 'kysely'
import pRetry from 'p-retry'
import { RegistryError } from '@skillstead/protocol'
import { compileQuery, type PreparedQuery, toQuiet, withConnection } from './compiled-query.ts'
import type { Connections } from './connections.ts'
import { isRepeatable } from './storage-error.ts'
import type { Tables } from './tables.ts'

/** The transaction of a write, which must await only statements of this transaction: all other writers wait. */
export type WriteTransaction = Transaction<Tables>

/**
 * The only way to change the database. The writes of all processes run one after another, so what a write reads stays
 * true until its commit. Queued writes are committed together, each in its own savepoint: a write that throws does not
 * affect the others, and many writes share one sync of the disk. If work of {@link doLast} fails, all writes of the
 * commit fail.
 */
export interface Writer {
  /** Runs the work in a transaction; resolves after the commit and after all commit listeners have run. */
  write<T>(work: (trx: WriteTransaction) => Promise<T>, options?: WriteOptions): Promise<T>
  /**
   * Announces a write that follows after other work, such as a scan: a commit waits some milliseconds while more writes
   * are announced than queued. Returns a function that ends the announcement; call it before the write, or without one.
   */
  announce(): () => void
  /** Called after every commit, before its writes resolve. */
  onCommit(listener: () => Promise<void> | void): void
  /** Resolves when no write is queued or running. */
  drain(): Promise<void>
}

export interface WriteOptions {
  /** Marks a bulk write, such as that of an import: no client waits for it, so larger batches may share a commit. */
  readonly bulk?: boolean
  /** Removes the write from the queue and rejects it with the reason of the signal. Ignored once the write began. */
  readonly signal?: AbortSignal
}

/** Limits of a transaction, so that no batch blocks the event loop or the lock for long. */
const batchMax = 48
const batchMs = 30
/**
 * Larger limits of a transaction while only bulk writes are queued. The transaction yields to the event loop meanwhile.
 */
const bulkBatchMax = 512
const bulkBatchMs = 250
/** How long a commit waits at most for announced writes. */
const gatherMs = 20
const waitingMax = 10_000
const lockRetries = 40
/** How long PostgreSQL waits for an idle transaction before it ends it. */
const idleMs = 30_000

interface WriteJob {
  readonly bulk: boolean
  work(trx: WriteTransaction): Promise<unknown>
  resolve(value: unknown): void
  reject(error: unknown): void
  /** Called when the write leaves the queue. */
  leave?(): void
  outcome?: { value: unknown } | { error: unknown }
}

interface LastWork {
  readonly key: string
  work(): Promise<unknown>
}

/** The work that writes left for the end of their transaction, by transaction of a writer. */
const lastWork = new WeakMap<WriteTransaction, LastWork[]>()

/**
 * Runs `work` at the end of the transaction, after all writes, unless the calling write is rolled back or a later write
 * leaves other work with the same key. Use it for work whose result later writes of the transaction replace, or that
 * costs as much for one write as for all of them together. If the work fails, all writes of the transaction fail. In a
 * transaction that no {@link Writer} began, such as that of an import, the work runs at once.
 */
export async function doLast(trx: WriteTransaction, key: string, work: LastWork['work']): Promise<void> {
  const left = lastWork.get(trx)
  if (left) left.push({ key, work })
  else await work()
}

/** The transactions whose current write is rolled back at its end. */
const undone = new WeakSet<WriteTransaction>()

/** Rolls the current write of a transaction back when it ends. The write resolves to its result, as a dry run does. */
export function undo(trx: WriteTransaction): void {
  if (!lastWork.has(trx)) throw new TypeError('Only a transaction that a Writer began can be undone.')
  undone.add(trx)
}

/** The writes that wait for a commit. */
class WriteQueue {
  readonly #jobs: WriteJob[] = []
  /** Number of queued writes that are not bulk. */
  #urgent = 0

  get size(): number {
    return this.#jobs.length
  }

  /** Adds a job, which leaves the queue and is rejected once the signal is aborted. */
  add(job: WriteJob, signal: AbortSignal | undefined): void {
    if (!job.bulk) this.#urgent += 1
    this.#jobs.push(job)
    if (!signal) return
    const end = () => {
      this.#jobs.splice(this.#jobs.indexOf(job), 1)
      this.#leave(job)
      job.reject(signal.reason)
    }
    signal.addEventListener('abort', end)
    job.leave = () => signal.removeEventListener('abort', end)
  }

  /** Takes the first job; undefined if there is none. */
  take(): WriteJob | undefined {
    const job = this.#jobs.shift()
    if (job) this.#leave(job)
    return job
  }

  /** Whether another job may join a batch that has run for `ms` milliseconds. */
  mayJoin(batch: readonly WriteJob[], ms: number): boolean {
    const isBulk = this.#urgent === 0 && batch.every(({ bulk }) => bulk)
    return isBulk ? batch.length < bulkBatchMax && ms < bulkBatchMs : batch.length < batchMax && ms < batchMs
  }

  #leave(job: WriteJob): void {
    if (!job.bulk) this.#urgent -= 1
    job.leave?.()
  }
}

/** The {@link Writer} of a database. */
export class BatchWriter implements Writer {
  readonly #connections: Connections
  readonly #queue = new WriteQueue()
  readonly #listeners: (() => Promise<void> | void)[] = []
  #running: Promise<void> | undefined
  #announced = 0
  /** Ends the waiting for announced writes. */
  #gathered: (() => void) | undefined

  constructor(connections: Connections) {
    this.#connections = connections
  }

  async write<T>(work: (trx: WriteTransaction) => Promise<T>, options: WriteOptions = {}): Promise<T> {
    const { bulk = false, signal } = options
    signal?.throwIfAborted()
    if (this.#queue.size >= waitingMax) {
      throw new RegistryError('overloaded', 'Too many writes are queued. Try again in a moment.', {
        retryAfterSeconds: 1,
      })
    }
    return new Promise<T>((resolve, reject) => {
      this.#queue.add({ bulk, work, resolve, reject }, signal)
      this.#running ??= this.#run()
      this.#endGathering()
    })
  }

  announce(): () => void {
    this.#announced += 1
    return () => {
      this.#announced -= 1
      this.#endGathering()
    }
  }

  onCommit(listener: () => Promise<void> | void): void {
    this.#listeners.push(listener)
  }

  async drain(): Promise<void> {
    while (this.#running) await this.#running
  }

  /** Commits batches until the queue is empty. */
  async #run(): Promise<void> {
    while (this.#queue.size > 0) {
      // Wait for one turn of the event loop, so that writes that are about to be queued join the same commit.
      await setImmediate()
      await this.#gather()
      const batch: WriteJob[] = []
      try {
        await pRetry(() => this.#transact((trx) => this.#runBatch(trx, batch)), {
          retries: lockRetries,
          minTimeout: 5,
          maxTimeout: 250,
          shouldRetry: ({ error }) => batch.length === 0 && isRepeatable(error),
        })
      } catch (error) {
        // If no job began, the failure (a lock timeout, a lost connection) is reported to the first job in the queue.
        for (const job of batch.length > 0 ? batch : [this.#queue.take()])
          job?.reject(job.outcome && 'error' in job.outcome ? job.outcome.error : error)
        continue
      }
      for (const listener of this.#listeners) await listener()
      for (const { outcome, resolve, reject } of batch) {
        if (outcome && 'value' in outcome) resolve(outcome.value)
        else reject(outcome?.error)
      }
    }
    this.#running = undefined
  }

  /**
   * Waits up to `gatherMs` until all announced writes are queued, or as many as a batch may have: a commit writes each
   * page that it changes only once for all of its writes.
   */
  async #gather(): Promise<void> {
    if (this.#isGathered()) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, gatherMs)
    this.#gathered = resolve
    await promise
    this.#gathered = undefined
    clearTimeout(timer)
  }

  #isGathered(): boolean {
    return this.#queue.size === 0 || this.#queue.size >= Math.min(this.#announced, batchMax)
  }

  #endGathering(): void {
    if (this.#isGathered()) this.#gathered?.()
  }

  /** Runs a transaction. Kysely rolls it back if the work throws; an undone job alone throws `aloneUndone`. */
  async #transact(work: (trx: WriteTransaction) => Promise<void>): Promise<void> {
    try {
      await this.#connections.main.transaction().execute(work)
    } catch (error) {
      if (error !== aloneUndone) throw error
    }
  }

  /** Runs queued jobs in a transaction until the batch is full or the queue is empty. */
  async #runBatch(trx: WriteTransaction, batch: WriteJob[]): Promise<void> {
    if (this.#connections.dialect === 'postgres') await lockHead(trx, {})
    lastWork.set(trx, [])
    await withConnection(trx, async (connection) => {
      // A single job needs no savepoint; jobs that are queued meanwhile are in the next batch.
      if (this.#queue.size === 1) await this.#runAlone(trx, batch)
      else await this.#runInSavepoints(connection, trx, batch)
      await doLastWork(trx)
    })
  }

  async #runInSavepoints(connection: DatabaseConnection, trx: WriteTransaction, batch: WriteJob[]): Promise<void> {
    const startedMs = performance.now()
    let turnedMs = startedMs
    for (let job = this.#queue.take(); job; job = this.#queue.take()) {
      batch.push(job)
      await runInSavepoint(connection, trx, job)
      if (!this.#queue.mayJoin(batch, performance.now() - startedMs)) return
      if (performance.now() - turnedMs < batchMs) continue
      await setImmediate()
      turnedMs = performance.now()
    }
  }

  async #runAlone(trx: WriteTransaction, batch: WriteJob[]): Promise<void> {
    const job = this.#queue.take()!
    batch.push(job)
    await job.work(trx).then(
      (value) => (job.outcome = { value }),
      (error: unknown) => {
        job.outcome = { error }
        throw error
      },
    )
    if (undone.has(trx)) throw aloneUndone
  }
}

/** A writer whose `write` is replaced, for steps before or after each write. */
export function withWrite(writer: Writer, write: Writer['write']): Writer {
  const { announce, onCommit, drain } = writer
  return { write, announce: announce.bind(writer), onCommit: onCommit.bind(writer), drain: drain.bind(writer) }
}

/** The writer of a registry that was opened for reading: rejects every write with `read_only`. */
export const closedWriter: Writer = {
  write: async () => {
    throw toReadOnlyError()
  },
  announce: () => () => {},
  onCommit() {},
  drain: async () => {},
}

/** The error of a write to a registry that was opened for reading. */
export function toReadOnlyError(): RegistryError {
  return new RegistryError(
    'read_only',
    "This registry was opened for reading only. To change it, open it with the mode 'write'.",
  )
}

/**
 * Locks the row of `heads`: PostgreSQL would otherwise let two writers number the log at the same time. All nodes wait
 * for this lock, so the server ends a transaction whose node is paused or disconnected; otherwise the other nodes might
 * wait for hours.
 */
const lockHead = compileQuery((db) =>
  db
    .selectFrom('heads')
    .select(sql`set_config('idle_in_transaction_session_timeout', ${sql.lit(`${idleMs}`)}, true)`.as('timeout'))
    .forUpdate(),
)

const savepoint = toQuiet(CompiledQuery.raw('savepoint job'))
const release = CompiledQuery.raw('release savepoint job')
const rollBack: PreparedQuery = { ...CompiledQuery.raw('rollback to savepoint job'), isRecovery: true }

/** Runs a job so that its failure does not affect the other jobs of the transaction. */
async function runInSavepoint(connection: DatabaseConnection, trx: WriteTransaction, job: WriteJob): Promise<void> {
  await connection.executeQuery(savepoint)
  const left = lastWork.get(trx)!.length
  try {
    const value = await job.work(trx)
    await connection.executeQuery(undone.has(trx) ? rollBack : release)
    if (undone.has(trx)) lastWork.get(trx)!.splice(left)
    job.outcome = { value }
  } catch (error) {
    // On a full disk the whole transaction is already rolled back; report that cause instead of the failed rollback.
    await connection.executeQuery(rollBack).catch(() => {
      throw error
    })
    lastWork.get(trx)!.splice(left)
    job.outcome = { error }
  } finally {
    undone.delete(trx)
  }
}

const aloneUndone = new Error('The write was undone.')

/** Runs the work that the writes left for the end of the transaction, the last of each key. */
async function doLastWork(trx: WriteTransaction): Promise<void> {
  let turnedMs = performance.now()
  const lastOfKeys = new Map(lastWork.get(trx)!.map(({ key, work }) => [key, work]))
  for (const work of lastOfKeys.values()) {
    await work()
    if (performance.now() - turnedMs < batchMs) continue
    await setImmediate()
    turnedMs = performance.now()
  }
}
