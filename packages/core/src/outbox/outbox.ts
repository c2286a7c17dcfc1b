import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import { newId } from '../kernel/ids.ts'
import { countRows } from '../storage/count-rows.ts'
import type { Database } from '../storage/database.ts'
import { isInList, toRowTable } from '../storage/list-query.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import type { JobView, OutboxFigures, OutboxHandler, OutboxJob, Topic } from './jobs.ts'
import { findRow, listRows, selectInState } from './rows.ts'
import { Worker, type WorkerParts } from './worker.ts'

/** Jobs per insert statement. On SQLite a statement blocks the process, at about 15 µs for each job. */
const batchJobs = 250
const sweptMax = 1000
const redirectedMax = 1000

/**
 * The persistent job queue. A job is added in the transaction that causes it, and claimed with a lease, so that a
 * killed process loses no job and no two nodes run a job at the same time. The order of jobs is not guaranteed.
 */
export class Outbox {
  readonly #parts: WorkerParts
  readonly #handlers = new Map<string, OutboxHandler<object>>()
  readonly #worker: Worker
  /** Whether a row was added or retried in this process: the next commit then wakes the worker. */
  #isWanted = false

  /** Creates the outbox of a database, with a worker that processes jobs once it is started. */
  constructor(parts: Omit<WorkerParts, 'handlers'>) {
    this.#parts = { ...parts, handlers: this.#handlers }
    this.#worker = new Worker(this.#parts)
    parts.database.writer.onCommit(() => {
      if (this.#isWanted) this.#worker.wake()
      this.#isWanted = false
    })
  }

  handle<P extends object = Record<string, unknown>>(topic: Topic<P>, handler: OutboxHandler<P>): void {
    this.#handlers.set(topic, handler)
    this.#worker.wake()
  }

  async enqueue<P extends object>(trx: WriteTransaction, ...jobs: OutboxJob<P>[]): Promise<void> {
    this.#isWanted = true
    const now = this.#parts.clock.now()
    for (let i = 0; i < jobs.length; i += batchJobs) {
      // Yield to the event loop between statements: readers continue, writers wait for this transaction.
      if (i > 0) await setImmediate()
      await insertJobs(this.#parts.database, trx, jobs.slice(i, i + batchJobs), now)
    }
  }

  /** The newest rows of a partition, newest first. */
  async list(partition: string, limit: number): Promise<JobView[]> {
    return listRows(this.#parts.database.read, partition, limit)
  }

  /** Finds a row; undefined if the partition has no row with this id. */
  async find(partition: string, id: string): Promise<JobView | undefined> {
    return findRow(this.#parts.database.read, partition, id)
  }

  /**
   * Makes a pending or failed row due now, unless an attempt is in progress; a completed row does not change. Returns
   * the current row, or undefined if the partition has no such row.
   */
  async retry(trx: WriteTransaction, partition: string, id: string): Promise<JobView | undefined> {
    this.#isWanted = true
    const now = this.#parts.clock.now()
    await trx
      .updateTable('outbox')
      .set({ state: 'pending', due_at: now, claimable_at: now })
      .where('id', '=', id)
      .where('partition', '=', partition)
      .where('state', 'in', ['pending', 'failed'])
      .where('lease', 'is', null)
      .execute()
    return findRow(trx, partition, id)
  }

  /** Deletes the row with a unique key unless a worker runs it. */
  async cancel(trx: WriteTransaction, uniqueKey: string): Promise<void> {
    await trx
      .deleteFrom('outbox')
      .where('unique_key', '=', uniqueKey)
      .where((eb) => eb.or([eb('lease', 'is', null), eb('claimable_at', '<=', this.#parts.clock.now())]))
      .execute()
  }

  /**
   * Moves the pending rows of a partition to another host, in batches, so that other writers do not wait long: a
   * partition may hold all events that a receiver missed for hours.
   */
  async redirect(partition: string, host: string): Promise<void> {
    const { dialect, read, writer } = this.#parts.database
    const rows = await selectInState(read, 'pending')
      .select('id')
      .where('partition', '=', partition)
      .where('host', '!=', host)
      .execute()
    for (let i = 0; i < rows.length; i += redirectedMax) {
      const ids = rows.slice(i, i + redirectedMax).map(({ id }) => id)
      const moved = isInList(dialect, 'id', ids)
      await writer.write((trx) =>
        trx.updateTable('outbox').set({ host }).where(moved).where('state', '=', 'pending').execute(),
      )
    }
  }

  /** Deletes rows that ended before a time, in batches, so that other writers do not wait long. */
  async sweep(before: { done: number; failed: number }): Promise<void> {
    const { writer } = this.#parts.database
    for (const state of ['done', 'failed'] as const) {
      const sweep = (trx: WriteTransaction) => {
        const old = selectInState(trx, state).select('id').where('due_at', '<', before[state]).limit(sweptMax)
        return trx.deleteFrom('outbox').where('id', 'in', old).executeTakeFirstOrThrow()
      }
      while ((await writer.write(sweep)).numDeletedRows === BigInt(sweptMax));
    }
  }

  /** Starts to process due rows, now and whenever a row becomes due. */
  start(): void {
    this.#worker.start()
  }

  /** Waits for running handlers, releases rows that have not begun, and claims no more. */
  async stop(): Promise<void> {
    await this.#worker.stop()
  }

  /** Metrics of the outbox. */
  async figures(): Promise<OutboxFigures> {
    const { read } = this.#parts.database
    const { pending, oldestDueAt } = await selectInState(read, 'pending')
      .select((eb) => [eb.fn.countAll<number>().as('pending'), eb.fn.min<number | null>('due_at').as('oldestDueAt')])
      .executeTakeFirstOrThrow()
    const failed = await countRows(selectInState(read, 'failed'))
    return { pending, failed, oldestDueAt, ...this.#worker.counts }
  }
}

async function insertJobs(
  { dialect }: Database,
  trx: WriteTransaction,
  jobs: readonly OutboxJob<object>[],
  now: number,
): Promise<void> {
  const columns = {
    ...({ id: 'text', topic: 'text', unique_key: 'text', partition: 'text', host: 'text', payload: 'text' } as const),
    due_at: 'whole',
  } as const
  const rows = jobs.map((job) => ({
    id: job.id ?? newId(),
    topic: job.topic,
    unique_key: job.uniqueKey ?? null,
    partition: job.partition || job.topic,
    host: job.host ?? '',
    payload: JSON.stringify(job.payload),
    due_at: job.dueAt ?? now,
  }))
  await sql`insert into outbox (id, topic, unique_key, partition, host, payload, state, due_at, claimable_at, attempt_log,
      created_at)
    select id, topic, unique_key, partition, host, payload, 'pending', due_at, due_at, '[]', ${now}
    from ${toRowTable(dialect, columns, rows)} as j where true
    on conflict (unique_key) do nothing`.execute(trx)
}
