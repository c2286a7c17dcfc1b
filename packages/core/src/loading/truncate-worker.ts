import { parentPort } from 'node:worker_threads'
import { RegistryError } from '@skillstead/protocol'
import { truncateHere, type TruncateOrder, type Truncated } from './truncate-skill.ts'

/** The thread of `truncateSkill`: a loaded skill in, what a budget leaves of it out. */
parentPort!.on('message', async (order: TruncateOrder) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort!.postMessage(await answer(order))
})

async function answer(order: TruncateOrder): Promise<Truncated> {
  try {
    return { loaded: await truncateHere(order) }
  } catch (error) {
    if (!(error instanceof RegistryError)) throw error
    return { code: error.code, detail: error.message, errors: error.errors }
  }
}
