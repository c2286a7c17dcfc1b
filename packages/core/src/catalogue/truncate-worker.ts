import { parentPort } from 'node:worker_threads'
import { truncateHere, type TruncateOrder } from './truncate-skill.ts'

/** The thread of `truncateSkill`: a loaded skill in, what a budget leaves of it out. */
parentPort!.on('message', async (order: TruncateOrder) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort!.postMessage(await truncateHere(order))
})
