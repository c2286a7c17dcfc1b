import { parentPort } from 'node:worker_threads'
import type { IndexOrder, IndexReply } from './index-thread.ts'
import { createSearchIndex } from './search-index.ts'

/** The worker thread of `createIndexThread`: receives orders and replies to each in order. */
const index = createSearchIndex()
parentPort!.on('message', (order: IndexOrder) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort!.postMessage({ found: run(order), size: index.size } satisfies IndexReply)
})

function run(order: IndexOrder): IndexReply['found'] {
  switch (order.kind) {
    case 'put':
      for (const document of order.documents) index.put(document)
      return undefined
    case 'counters':
      return index.putCounters(order.id, order.counters)
    case 'remove':
      return index.remove(order.id)
    case 'search':
      return index.search(order.query)
    case 'suggest':
      return index.suggest(order.q, order.limit, order.viewer)
  }
}
