import { parentPort } from 'node:worker_threads'
import { truncateHere, type TruncateOrder } from './truncate-skill.ts'

/**
 * The worker thread of `truncateSkill`: receives a loaded skill and returns the skill truncated to the token budget.
 */
parentPort!.on('message', async (order: TruncateOrder) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort!.postMessage(await truncateHere(order))
})
