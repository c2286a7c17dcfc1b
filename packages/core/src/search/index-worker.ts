import { parentPort } from 'node:worker_threads'
import type { IndexOrder, IndexReply } from './index-thread.ts'
import { createSearchIndex } from './search-index.ts'

/** The worker thread of `IndexThread`: receives orders and replies to each in order. */
const threadIndex = createSearchIndex()
parentPort!.on('message', (order: IndexOrder) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort!.postMessage({ ...answerOrder(order), size: threadIndex.size } satisfies IndexReply)
})

/** A failing order ends neither the thread nor other orders. */
function answerOrder(order: IndexOrder): Pick<IndexReply, 'found' | 'error'> {
  try {
    return { found: runOrder(order) }
  } catch (error) {
    return { error }
  }
}

function runOrder(order: IndexOrder): IndexReply['found'] {
  switch (order.kind) {
    case 'put':
      return order.documents.forEach((document) => threadIndex.put(document))
    case 'counts':
      return order.counts.forEach((one) => threadIndex.putCounts(one))
    case 'remove':
      return order.ids.forEach((id) => threadIndex.remove(id))
    case 'search':
      return threadIndex.search(order.query)
    case 'suggest':
      return threadIndex.suggest(order.q, order.limit, order.viewer)
  }
}
