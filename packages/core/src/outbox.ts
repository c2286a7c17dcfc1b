import { newId } from './ids.ts'
import type { Clock } from './clock.ts'
import type { Database } from './storage/database.ts'
import type { OutboxRow } from './storage/tables.ts'
import type { WriteTransaction } from './storage/writer.ts'

/** A piece of work that must survive a restart. */
export interface OutboxJob {
  readonly topic: string
  readonly payload: Record<string, unknown>
  /** When to begin, in milliseconds since 1970; at once where it is not said. */
  readonly dueAt?: number
  /** While a row of this key waits, another is not added. */
  readonly uniqueKey?: string
}

export interface OutboxHandler {
  /** Does the work; what it throws is kept with the row. A row may be handled more than once. */
  handle(payload: Record<string, unknown>, attempt: number): Promise<void>
  /** Milliseconds before each further attempt; after the last the row has failed. */
  readonly retryDelaysMs: readonly number[]
  /** Called in the transaction that ends a row, done or failed; a row that comes round again is enqueued here. */
  afterwards?(trx: WriteTransaction): Promise<void>
}

/**
 * The persistent queue. Rows are written in the transaction of their cause and claimed with a lease, so that a killed
 * process loses nothing and no two nodes do one row at the same time.
 */
export interface Outbox {
  handle(topic: string, handler: OutboxHandler): void
  enqueue(trx: WriteTransaction, job: OutboxJob): Promise<void>
  /** Looks for due rows now, and again whenever one becomes due. */
  start(): void
  /** Lets what is running end, and claims no more. */
  stop(): Promise<void>
  depth(): Promise<{ pending: number; failed: number; oldestDueAt: number | null }>
}

const leaseMs = 60_000
const concurrencyMax = 16
const pollMs = 1000
const errorCharactersMax = 2000

export function createOutbox(database: Database, clock: Clock, onError: (error: unknown) => void): Outbox {
  const owner = newId()
  const handlers = new Map<string, OutboxHandler>()
  const running = new Set<Promise<void>>()
  let timer: NodeJS.Timeout | undefined
  let started = false
  let working: Promise<void> | undefined
  let again = false

  function work(): void {
    if (!started) return
    again = true
    working ??= claimAll()
  }

  async function claimAll(): Promise<void> {
    try {
      while (again && started) {
        again = false
        for (const row of await claim()) begin(row)
      }
    } catch (error) {
      onError(error)
    } finally {
      working = undefined
      sleep()
    }
  }

  async function claim(): Promise<OutboxRow[]> {
    const places = concurrencyMax - running.size
    if (places <= 0 || handlers.size === 0 || !(await hasDue())) return []
    return database.writer.write(async (trx) => {
      const now = clock.now()
      const due = trx
        .selectFrom('outbox')
        .select('id')
        .where('state', '=', 'pending')
        .where('due_at', '<=', now)
        .where('lease_until', '<=', now)
        .where('topic', 'in', [...handlers.keys()])
        .orderBy('due_at')
        .limit(places)
      return trx
        .updateTable('outbox')
        .set((eb) => ({ lease_owner: owner, lease_until: now + leaseMs, attempts: eb('attempts', '+', 1) }))
        .where('id', 'in', database.dialect === 'postgres' ? due.forUpdate().skipLocked() : due)
        .returningAll()
        .execute()
    })
  }

  /** A look without the write lock, so that an idle outbox costs nobody anything. */
  async function hasDue(): Promise<boolean> {
    const now = clock.now()
    const row = await database.read
      .selectFrom('outbox')
      .select('id')
      .where('state', '=', 'pending')
      .where('due_at', '<=', now)
      .where('lease_until', '<=', now)
      .where('topic', 'in', [...handlers.keys()])
      .limit(1)
      .executeTakeFirst()
    return row !== undefined
  }

  function begin(row: OutboxRow): void {
    const task = run(row)
      .catch(onError)
      .finally(() => {
        running.delete(task)
        work()
      })
    running.add(task)
  }

  async function run(row: OutboxRow): Promise<void> {
    const handler = handlers.get(row.topic)!
    try {
      await handler.handle(JSON.parse(row.payload) as Record<string, unknown>, row.attempts)
      await settle(row, { state: 'done', unique_key: null, last_error: null })
    } catch (error) {
      const last_error = String(error instanceof Error ? error.message : error).slice(0, errorCharactersMax)
      const delayMs = handler.retryDelaysMs[row.attempts - 1]
      if (delayMs === undefined) await settle(row, { state: 'failed', unique_key: null, last_error })
      else await settle(row, { due_at: clock.now() + delayMs, last_error })
    }
  }

  /** Ends a lease, unless it ran out and another worker has the row by now. */
  async function settle(row: OutboxRow, change: Partial<OutboxRow>): Promise<void> {
    await database.writer.write(async (trx) => {
      const held = trx.updateTable('outbox').where('id', '=', row.id).where('lease_owner', '=', owner)
      const { numUpdatedRows } = await held.set({ ...change, lease_owner: null, lease_until: 0 }).executeTakeFirst()
      if (numUpdatedRows > 0n && change.state) await handlers.get(row.topic)!.afterwards?.(trx)
    })
  }

  function sleep(): void {
    clearTimeout(timer)
    if (!started) return
    timer = setTimeout(work, pollMs)
    timer.unref()
  }

  database.writer.onCommit(work)
  return {
    handle: (topic, handler) => void handlers.set(topic, handler),
    async enqueue(trx, job) {
      const now = clock.now()
      await trx
        .insertInto('outbox')
        .values({
          id: newId(),
          topic: job.topic,
          unique_key: job.uniqueKey ?? null,
          payload: JSON.stringify(job.payload),
          state: 'pending',
          due_at: job.dueAt ?? now,
          attempts: 0,
          lease_owner: null,
          lease_until: 0,
          created_at: now,
          last_error: null,
        })
        .onConflict((conflict) => conflict.column('unique_key').doNothing())
        .execute()
    },
    start() {
      started = true
      work()
    },
    async stop() {
      started = false
      clearTimeout(timer)
      // First what is being claimed: those rows are this process's to run now.
      await working
      await Promise.all(running)
    },
    async depth() {
      const { pending, failed, oldest } = await database.read
        .selectFrom('outbox')
        .select((eb) => [
          eb.fn.count<number>('id').filterWhere('state', '=', 'pending').as('pending'),
          eb.fn.count<number>('id').filterWhere('state', '=', 'failed').as('failed'),
          eb.fn.min<number | null>('due_at').filterWhere('state', '=', 'pending').as('oldest'),
        ])
        .executeTakeFirstOrThrow()
      return { pending, failed, oldestDueAt: oldest }
    },
  }
}
