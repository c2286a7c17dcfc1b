import { setImmediate } from 'node:timers/promises'
import { sql, type Transaction } from 'kysely'
import pRetry from 'p-retry'
import { RegistryError } from '@skillstead/protocol'
import type { Connections } from './connections.ts'
import { isBusy } from './storage-error.ts'
import type { Tables } from './tables.ts'

/** The handle inside a write; nothing else may be awaited there, or every other writer waits too. */
export type WriteTransaction = Transaction<Tables>

/**
 * The one door for changes. What waits is committed together, each piece of work in a savepoint of its own: one that
 * throws takes nothing with it, and many pay for one sync of the disk.
 */
export interface Writer {
  /** Runs the work in a transaction; resolves after the commit and after everyone who follows changes has seen it. */
  write<T>(work: (trx: WriteTransaction) => Promise<T>, options?: WriteOptions): Promise<T>
  /** Called after every commit, before its writers are answered. */
  onCommit(listener: () => Promise<void> | void): void
  /** Resolves when nothing is waiting or running. */
  settle(): Promise<void>
}

interface WriteOptions {
  /** Part of much that comes at once: nobody waits for this one, so that more of it may share a commit. */
  readonly bulk?: boolean
}

/** Bounds of one transaction, so that no group holds the event loop or the lock for long. */
const groupMax = 48
const groupMs = 30
/** As long as nobody else waits, a group of bulk goes on for so long, and lets the event loop turn meanwhile. */
const bulkGroupMax = 512
const bulkGroupMs = 250
const waitingMax = 10_000
const lockRetries = 40
/** So long a transaction may say nothing. */
const silentMs = 30_000

interface Job {
  readonly bulk: boolean
  work(trx: WriteTransaction): Promise<unknown>
  resolve(value: unknown): void
  reject(error: unknown): void
  outcome?: { value: unknown } | { error: unknown }
}

export function createWriter(connections: Connections): Writer {
  const waiting: Job[] = []
  /** How many of those are not bulk. */
  let urgent = 0
  const listeners: (() => Promise<void> | void)[] = []
  let running: Promise<void> | undefined

  async function run(): Promise<void> {
    while (waiting.length > 0) {
      // One turn of the event loop: everybody who is about to write comes along in the same commit.
      await setImmediate()
      const group: Job[] = []
      try {
        await pRetry(() => commitGroup(group), {
          retries: lockRetries,
          minTimeout: 5,
          maxTimeout: 250,
          shouldRetry: ({ error }) => group.length === 0 && isBusy(error),
        })
      } catch (error) {
        // With no job begun the failure (a lock held too long, a lost connection) is that of the first in line.
        for (const job of group.length > 0 ? group : takeFirst()) job.reject(error)
        continue
      }
      await tellListeners()
      for (const job of group) settleJob(job)
    }
    running = undefined
  }

  function takeFirst(): Job[] {
    const jobs = waiting.splice(0, 1)
    urgent -= jobs.filter(({ bulk }) => !bulk).length
    return jobs
  }

  function commitGroup(group: Job[]): Promise<void> {
    return connections.main.transaction().execute(async (trx) => {
      if (connections.dialect === 'postgres') await lockHead(trx)
      const startedMs = performance.now()
      let turnedMs = startedMs
      for (let [job] = takeFirst(); job; [job] = takeFirst()) {
        group.push(job)
        await runJob(job, trx)
        if (!isOpen(group, performance.now() - startedMs)) return
        if (performance.now() - turnedMs < groupMs) continue
        await setImmediate()
        turnedMs = performance.now()
      }
    })
  }

  function isOpen(group: readonly Job[], ms: number): boolean {
    const isBulk = urgent === 0 && group.every(({ bulk }) => bulk)
    return isBulk ? group.length < bulkGroupMax && ms < bulkGroupMs : group.length < groupMax && ms < groupMs
  }

  async function tellListeners(): Promise<void> {
    for (const listener of listeners) await listener()
  }

  return {
    async write<T>(work: (trx: WriteTransaction) => Promise<T>, { bulk = false }: WriteOptions = {}) {
      if (waiting.length >= waitingMax) {
        throw new RegistryError('overloaded', 'Too many changes are waiting. Try again in a moment.', {
          retryAfterSeconds: 1,
        })
      }
      return new Promise<T>((resolve, reject) => {
        if (!bulk) urgent++
        waiting.push({ bulk, work, resolve: resolve as (value: unknown) => void, reject })
        running ??= run()
      })
    },
    onCommit: (listener) => void listeners.push(listener),
    settle: async () => {
      while (running) await running
    },
  }
}

/**
 * PostgreSQL would let two writers number the log at once; the head's lock makes them take turns, as in SQLite. All nodes
 * wait for it, so the server takes it from one that is paused or cut off, for which it would wait for hours.
 */
async function lockHead(trx: WriteTransaction): Promise<void> {
  await sql`select set_config('idle_in_transaction_session_timeout', ${`${silentMs}`}, true) from heads
    for update`.execute(trx)
}

async function runJob(job: Job, trx: WriteTransaction): Promise<void> {
  await sql`savepoint job`.execute(trx)
  try {
    const value = await job.work(trx)
    await sql`release savepoint job`.execute(trx)
    job.outcome = { value }
  } catch (error) {
    await rollBack(trx, error)
    job.outcome = { error }
  }
}

/** A full disk ends the whole transaction by itself; then the reason is what must be told, not that nothing is left. */
async function rollBack(trx: WriteTransaction, reason: unknown): Promise<void> {
  try {
    await sql`rollback to savepoint job`.execute(trx)
  } catch {
    throw reason
  }
}

function settleJob(job: Job): void {
  if (job.outcome && 'value' in job.outcome) job.resolve(job.outcome.value)
  else job.reject(job.outcome?.error)
}
