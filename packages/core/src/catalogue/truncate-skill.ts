import { RegistryError } from '@skillstead/protocol'
import { truncate, type LoadedSkill } from '@skillstead/skill-format/loading'
import { toThreadFile, WorkerPool } from '@skillstead/scanner/workers'
import { getTokenCounter } from './count-tokens.ts'

/** What is asked of the thread. */
export interface TruncateOrder {
  readonly loaded: LoadedSkill
  readonly maxTokens: number
  readonly priority?: readonly string[]
}

type Threads = Pick<WorkerPool<LoadedSkill, TruncateOrder>, 'ask'>

const workerUrl = toThreadFile(import.meta.url, 'truncate-worker')
/** A hundred times what the worst document takes, and the table of the encoding besides. */
const answerMs = 30_000

/** One thread, since each holds a table of its own. */
const pool = new WorkerPool<LoadedSkill, TruncateOrder>({ url: workerUrl, answerMs, workersMax: 1 })

/**
 * Truncates in another thread: reading the table of the encoding takes half a second, and a document made for it a
 * tenth, in which nobody else would be answered. Throws `overloaded` where it takes too long.
 */
export async function truncateSkill(order: TruncateOrder, threads: Threads = pool): Promise<LoadedSkill> {
  const found = await threads.ask(order)
  // Where no thread can be had it is done here.
  if (found === 'broken') return truncateHere(order)
  if (found === 'late') {
    throw new RegistryError('overloaded', 'Keeping to the budget takes too long at the moment. Try again shortly.', {
      retryAfterSeconds: 5,
    })
  }
  return found
}

/** As {@link truncateSkill}, in this thread. */
export async function truncateHere({ loaded, maxTokens, priority }: TruncateOrder): Promise<LoadedSkill> {
  return truncate(loaded, { maxTokens, priority, countTokens: await getTokenCounter() })
}
