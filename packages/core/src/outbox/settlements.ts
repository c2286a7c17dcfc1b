import pRetry from 'p-retry'
import { RegistryError } from '@skillstead/protocol'
import type { Database } from '../storage/database.ts'
import { toRegistryError } from '../storage/storage-error.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { settleRows, type ClaimedRow, type Settlement } from './claims.ts'
import type { Holdings } from './holdings.ts'
import type { EndedJob, OutboxHandler } from './outbox.ts'

interface Parts {
  readonly database: Database
  readonly handlers: ReadonlyMap<string, OutboxHandler>
  readonly holdings: Holdings
  readonly onError: (error: unknown) => void
}

/** Well within a lease: what was done already is not done again because the storage was away for a moment. */
const retries = { retries: 6, minTimeout: 100, factor: 2 }

/** Writes how rows go on, together those that ended meanwhile. What cannot be written is done again after its lease. */
export function createSettlements({ database, handlers, holdings, onError }: Parts) {
  let waiting: Settlement[] = []
  let writing: Promise<boolean> | undefined
  let isStopping = false

  async function writeGroup(): Promise<boolean> {
    // What was lost meanwhile is for others to settle.
    const group = waiting.splice(0).filter(({ row }) => holdings.isHeld(row))
    const topics = Map.groupBy(group, ({ row }) => row.topic)
    await Promise.all([...topics].map(([topic, ofTopic]) => settle(handlers.get(topic)!, ofTopic)))
    holdings.drop(group.map(({ row }) => row))
    return group.some(({ state }) => state === 'pending')
  }

  /** A row that its handler's `afterwards` fails on takes no other with it. */
  async function settle(handler: OutboxHandler, group: readonly Settlement[]): Promise<void> {
    const write = () => database.writer.write((trx) => settleAndTell(trx, handler, group))
    try {
      await pRetry(write, { ...retries, shouldRetry: ({ error }) => isStorageAway(error) && !isStopping })
    } catch (error) {
      if (group.length === 1 || isStorageAway(error)) return onError(error)
      await Promise.all(group.map((settlement) => settle(handler, [settlement])))
    }
  }

  async function settleAndTell(trx: WriteTransaction, handler: OutboxHandler, group: readonly Settlement[]) {
    const settled = await settleRows(database.dialect, trx, group)
    const ended = group.flatMap(({ row, state, startedAt }) =>
      settled.has(row.id) && state !== 'pending' ? [toEnded(row, state, startedAt)] : [],
    )
    if (ended.length > 0) await handler.afterwards?.(trx, ended)
  }

  return {
    add: (settlement: Settlement) => void waiting.push(settlement),
    /** How many wait to be written. */
    get size() {
      return waiting.length
    },
    get isWriting() {
      return writing !== undefined
    },
    /** Writes what waits, one group at a time; answers whether something of it is tried again. */
    async write(): Promise<boolean> {
      writing ??= writeGroup().finally(() => (writing = undefined))
      return writing
    },
    /** Writes what is left, without waiting for a storage that is away. */
    async stop(): Promise<void> {
      isStopping = true
      while (writing || waiting.length > 0) await this.write()
      isStopping = false
    },
  }
}

function isStorageAway(error: unknown): boolean {
  const known = toRegistryError(error)
  return known instanceof RegistryError && known.code === 'overloaded'
}

function toEnded({ id, lane, payload, attempts }: ClaimedRow, state: 'done' | 'failed', startedAt: number): EndedJob {
  return { id, lane, payload: readPayload(payload), state, attempts: attempts + 1, startedAt }
}

/** What cannot be read was refused before, and still has to end. */
function readPayload(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return {}
  }
}
