import { Worker, type WorkerOptions } from 'node:worker_threads'
import { RegistryError } from '@skillstead/protocol'
import { startThread } from '@skillstead/scanner/workers'
import type { IndexHost } from './index-host.ts'
import type { SearchDocument } from './search-document.ts'
import type { SearchHits, SearchQuery } from './search-index.ts'

/** A message to the thread of the index. */
export type IndexOrder =
  | { readonly kind: 'put'; readonly documents: readonly SearchDocument[] }
  | { readonly kind: 'counters'; readonly id: number; readonly counters: { downloads: number; stars: number } }
  | { readonly kind: 'remove'; readonly id: number }
  | { readonly kind: 'search'; readonly query: SearchQuery }
  | { readonly kind: 'suggest'; readonly q: string; readonly limit: number; readonly viewer: string | null }

/** The reply to an order: what it found, and the size of the index after it. */
export interface IndexReply {
  readonly found: SearchHits | string[] | void
  readonly size: number
}

/** An order whose reply is due. */
interface Job {
  readonly sentMs: number
  readonly documents: number
  readonly resolve: (found: IndexReply['found']) => void
  readonly reject: (error: unknown) => void
}

/** Documents that may wait in the thread's queue. */
const documentsMax = 256
/** Searches are refused while the oldest order waits longer than this, in milliseconds: an answer takes under a second. */
const delayMsMax = 400

const startWorker = (options: WorkerOptions) => new Worker(new URL('./index-worker.ts', import.meta.url), options)

/**
 * Creates an empty index in its own thread, so that searches of a large catalogue do not delay other requests. The thread
 * handles orders one after another. Calls `onLost` if it ends before `close`; its searches then fail. Throws an error if
 * no thread can be started.
 */
export function createIndexThread(
  onLost: (error: Error) => void,
  now: () => number = () => performance.now(),
): IndexHost {
  const worker = startThread('index-worker', startWorker)
  const jobs: Job[] = []
  let size = 0
  let waitingDocuments = 0
  let room = Promise.withResolvers<void>()
  let lost: Error | undefined
  let isClosed = false
  worker.unref()
  worker.on('message', (reply: IndexReply) => {
    const job = jobs.shift()!
    if (jobs.length === 0) worker.unref()
    size = reply.size
    waitingDocuments -= job.documents
    if (job.documents > 0 && waitingDocuments <= documentsMax) makeRoom()
    job.resolve(reply.found)
  })
  worker.on('error', (error) => lose(error as Error))
  worker.on('exit', () => lose(new Error('The thread of the search index ended.')))

  function makeRoom(): void {
    room.resolve()
    room = Promise.withResolvers()
  }

  /** Only the first reason counts: an error is followed by the exit. */
  function lose(error: Error): void {
    if (lost) return
    lost = error
    makeRoom()
    for (const { reject } of jobs.splice(0)) reject(error)
    onLost(error)
  }

  function send(order: IndexOrder): Promise<IndexReply['found']> {
    if (lost) return Promise.reject(lost)
    const { promise, resolve, reject } = Promise.withResolvers<IndexReply['found']>()
    const documents = order.kind === 'put' ? order.documents.length : 0
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    worker.postMessage(order)
    waitingDocuments += documents
    if (jobs.push({ sentMs: now(), documents, resolve, reject }) === 1) worker.ref()
    return promise
  }

  /** Sends an order without a result. If the thread is lost, `onLost` reports it. */
  function tell(order: IndexOrder): void {
    send(order).catch(() => {})
  }

  function requireRoom(): void {
    const [oldest] = jobs
    if (!oldest || now() - oldest.sentMs <= delayMsMax) return
    throw new RegistryError('overloaded', 'Too many searches are waiting. Try again in a moment.', {
      retryAfterSeconds: 1,
    })
  }

  return {
    get size() {
      return size
    },
    async put(documents) {
      tell({ kind: 'put', documents })
      if (waitingDocuments > documentsMax && !lost) await room.promise
      if (lost && !isClosed) throw lost
    },
    async flush() {
      await send({ kind: 'put', documents: [] })
    },
    putCounters: (id, counters) => tell({ kind: 'counters', id, counters }),
    remove: (id) => tell({ kind: 'remove', id }),
    async search(query) {
      requireRoom()
      return (await send({ kind: 'search', query })) as SearchHits
    },
    async suggest(q, limit, viewer) {
      requireRoom()
      return (await send({ kind: 'suggest', q, limit, viewer })) as string[]
    },
    close() {
      isClosed = true
      lost ??= new Error('The search index is closed.')
      for (const { reject } of jobs.splice(0)) reject(lost)
      makeRoom()
      void worker.terminate()
    },
  }
}
