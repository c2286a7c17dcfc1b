import { Worker, type WorkerOptions } from 'node:worker_threads'
import { RegistryError } from '@skillstead/protocol'
import { startThread } from '@skillstead/scanner/workers'
import type { IndexHost, SkillCounts } from './index-host.ts'
import type { SearchDocument } from './search-document.ts'
import type { SearchHits, SearchQuery } from './search-index.ts'

/** A message to the thread of the index. */
export type IndexOrder =
  | { readonly kind: 'put'; readonly documents: readonly SearchDocument[] }
  | { readonly kind: 'counts'; readonly counts: readonly SkillCounts[] }
  | { readonly kind: 'remove'; readonly ids: readonly number[] }
  | { readonly kind: 'search'; readonly query: SearchQuery }
  | { readonly kind: 'suggest'; readonly q: string; readonly limit: number; readonly viewer: string | null }

/** The reply to an order: what it found or why it failed, and the size of the index after it. */
export interface IndexReply {
  readonly found?: SearchHits | string[] | void
  readonly error?: unknown
  readonly size: number
}

/** An order whose reply is due. */
interface Job {
  readonly kind: IndexOrder['kind']
  readonly sentMs: number
  readonly documents: number
  readonly resolve: (found: IndexReply['found']) => void
  readonly reject: (error: unknown) => void
}

export interface IndexThreadOptions {
  /** The thread ended before `close`: all searches fail. */
  readonly onLost: (error: Error) => void
  /** A change failed. */
  readonly onError: (error: unknown) => void
  /** Milliseconds. Default: `performance.now`. */
  readonly now?: () => number
}

/** Documents of one order, and those that may wait in the thread's queue: a search waits for them some 20 ms. */
const batchDocuments = 8
const documentsMax = 16
/** Searches are refused if they would wait longer than this, in milliseconds. */
const delayMsMax = 400
/** The weight of the newest search in the mean time of a search. */
const newestShare = 0.1

const startWorker = (options: WorkerOptions) => new Worker(new URL('./index-worker.ts', import.meta.url), options)

/**
 * Creates an empty index in its own thread, so that searches of a large catalogue do not delay other requests. The thread
 * handles orders one after another. Throws an error if no thread can be started.
 */
export function createIndexThread(options: IndexThreadOptions): IndexHost {
  const { onLost, onError, now = () => performance.now() } = options
  // The heap grows with the catalogue, so it has no limit of its own.
  const worker = startThread('index-worker', startWorker, { resourceLimits: {} })
  const jobs: Job[] = []
  let size = 0
  let waitingDocuments = 0
  let waitingSearches = 0
  let searchMs = 0
  let repliedMs = 0
  let room = Promise.withResolvers<void>()
  let lost: Error | undefined
  worker.unref()
  worker.on('message', (reply: IndexReply) => {
    const job = jobs.shift()
    // A reply may still arrive after `close`.
    if (!job) return
    if (jobs.length === 0) worker.unref()
    size = reply.size
    count(job)
    if ('error' in reply) job.reject(reply.error)
    else job.resolve(reply.found)
  })
  worker.on('error', (error) => lose(error as Error))
  worker.on('exit', () => lose(new Error('The thread of the search index ended.')))

  function count({ kind, sentMs, documents }: Job): void {
    const tookMs = now() - Math.max(sentMs, repliedMs)
    repliedMs = now()
    waitingDocuments -= documents
    if (documents > 0 && waitingDocuments <= documentsMax) makeRoom()
    if (kind !== 'search') return
    waitingSearches--
    searchMs = searchMs === 0 ? tookMs : searchMs + (tookMs - searchMs) * newestShare
  }

  function makeRoom(): void {
    room.resolve()
    room = Promise.withResolvers()
  }

  function end(error: Error): void {
    lost = error
    makeRoom()
    for (const { reject } of jobs.splice(0)) reject(error)
  }

  /** Only the first reason counts: an error is followed by the exit. */
  function lose(error: Error): void {
    if (lost) return
    end(error)
    onLost(error)
  }

  function send(order: IndexOrder): Promise<IndexReply['found']> {
    if (lost) return Promise.reject(lost)
    const { promise, resolve, reject } = Promise.withResolvers<IndexReply['found']>()
    const documents = order.kind === 'put' ? order.documents.length : 0
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    worker.postMessage(order)
    waitingDocuments += documents
    if (order.kind === 'search') waitingSearches++
    if (jobs.push({ kind: order.kind, sentMs: now(), documents, resolve, reject }) === 1) worker.ref()
    return promise
  }

  /** Sends a change. Its failure is reported, that of the whole thread only once. */
  function change(order: IndexOrder): void {
    send(order).catch((error: unknown) => {
      if (error !== lost) onError(error)
    })
  }

  function requireRoom(): void {
    const oldest = jobs.find(({ kind }) => kind === 'search')
    const delayMs = Math.max(waitingSearches * searchMs, oldest ? now() - oldest.sentMs : 0)
    if (delayMs <= delayMsMax) return
    throw new RegistryError('overloaded', 'Too many searches are waiting. Try again in a moment.', {
      retryAfterSeconds: 1,
    })
  }

  return {
    get size() {
      return size
    },
    hasThread: true,
    async put(documents) {
      for (let i = 0; i < documents.length; i += batchDocuments) {
        change({ kind: 'put', documents: documents.slice(i, i + batchDocuments) })
        if (waitingDocuments > documentsMax && !lost) await room.promise
      }
    },
    async flush() {
      await send({ kind: 'put', documents: [] })
    },
    putCounts: (counts) => change({ kind: 'counts', counts }),
    remove: (ids) => change({ kind: 'remove', ids }),
    async search(query) {
      requireRoom()
      return (await send({ kind: 'search', query })) as SearchHits
    },
    async suggest(q, limit, viewer) {
      requireRoom()
      return (await send({ kind: 'suggest', q, limit, viewer })) as string[]
    },
    close() {
      if (!lost) end(new RegistryError('closed', 'The registry was closed. Open it again to use it.'))
      void worker.terminate()
    },
  }
}
