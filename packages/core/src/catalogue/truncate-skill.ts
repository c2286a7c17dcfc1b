import { RegistryError } from '@skillstead/protocol'
import { truncate, type LoadedSkill } from '@skillstead/skill-format/loading'
import { toThreadFile, WorkerPool } from '@skillstead/scanner/workers'
import { getTokenCounter } from './count-tokens.ts'

/** The message to the worker thread. */
export interface TruncateOrder {
  readonly loaded: LoadedSkill
  readonly maxTokens: number
  readonly priority?: readonly string[]
}

type Threads = Pick<WorkerPool<LoadedSkill, TruncateOrder>, 'ask'>

const workerUrl = toThreadFile(import.meta.url, 'truncate-worker')
/** A hundred times the time of the slowest document, plus loading the encoding's table. */
const answerMs = 30_000

/** One thread, since each needs its own table. */
const pool = new WorkerPool<LoadedSkill, TruncateOrder>({ url: workerUrl, answerMs, workersMax: 1 })

/**
 * Truncates in another thread: loading the encoding's table takes 0.5 s and a document crafted for it 0.1 s, during
 * which no other request would be answered. Throws `overloaded` after a timeout.
 */
export async function truncateSkill(order: TruncateOrder, threads: Threads = pool): Promise<LoadedSkill> {
  const found = await threads.ask(order)
  // If no thread can be started, truncate in this one.
  if (found === 'broken') return truncateHere(order)
  if (found === 'late') {
    throw new RegistryError(
      'overloaded',
      'Truncating the skill to maxTokens takes too long at the moment. Try again shortly.',
      {
        retryAfterSeconds: 5,
      },
    )
  }
  return found
}

/** As {@link truncateSkill}, in this thread. */
export async function truncateHere({ loaded, maxTokens, priority }: TruncateOrder): Promise<LoadedSkill> {
  return truncate(loaded, { maxTokens, priority, countTokens: await getTokenCounter() })
}
