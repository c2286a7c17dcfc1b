import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import { newId } from '../kernel/ids.ts'
import type { Database } from '../storage/database.ts'
import { toRowTable } from '../storage/list-query.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { browseRows, countTopics } from './browse-rows.ts'
import type { Outbox, OutboxHandler, OutboxJob } from './outbox.ts'
import { cancelRow, findRow, listRows, readFigures, redirectRows, retryRow, sweepRows } from './rows.ts'
import { createWorker, type WorkerParts } from './worker.ts'

/** Jobs per insert statement. On SQLite a statement blocks the process, at about 15 µs for each job. */
const batchJobs = 250

/** Creates the outbox of a database, with a worker that processes jobs once it is started. */
export function createOutbox(parts: Omit<WorkerParts, 'handlers'>): Outbox {
  const { database, clock } = parts
  const handlers = new Map<string, OutboxHandler>()
  const worker = createWorker({ ...parts, handlers })
  /** Whether a transaction of this process made a row due. */
  let isWanted = false

  async function enqueue(trx: WriteTransaction, ...jobs: OutboxJob[]): Promise<void> {
    isWanted = true
    const now = clock.now()
    for (let i = 0; i < jobs.length; i += batchJobs) {
      // Yield to the event loop between statements: readers continue, writers wait for this transaction.
      if (i > 0) await setImmediate()
      await insertJobs(database, trx, jobs.slice(i, i + batchJobs), now)
    }
  }

  database.writer.onCommit(() => {
    if (!isWanted) return
    isWanted = false
    worker.wake()
  })
  return {
    handle(topic, handler) {
      handlers.set(topic, handler)
      worker.wake()
    },
    enqueue,
    list: (partition, limit) => listRows(database, partition, limit),
    find: (partition, id) => findRow(database, partition, id),
    retry(trx, partition, id) {
      isWanted = true
      return retryRow(trx, { partition, id, now: clock.now() })
    },
    cancel: (trx, uniqueKey) => cancelRow(trx, { uniqueKey, now: clock.now() }),
    redirect: (partition, host) => redirectRows(database, partition, host),
    sweep: (before) => sweepRows(database, before),
    start: worker.start,
    stop: worker.stop,
    browse: (wanted) => browseRows(database, wanted),
    countTopics: () => countTopics(database),
    figures: async () => ({ ...(await readFigures(database)), ...worker.counts }),
  }
}

async function insertJobs(
  { dialect }: Database,
  trx: WriteTransaction,
  jobs: readonly OutboxJob[],
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
