import { Worker, type WorkerOptions } from 'node:worker_threads'
import { RegistryError } from '@skillstead/protocol'
import { startThread } from '@skillstead/scanner/workers'
import type { IndexHost } from './index-host.ts'
import type { ViewerKeys } from '../visibility/audience.ts'
import type { SearchDocument } from './search-document.ts'
import type { IndexQuery, SearchHits, SkillCounts } from './search-index.ts'

/** An order: a message to the thread of the index. */
export type IndexOrder =
  | { readonly kind: 'put'; readonly documents: readonly SearchDocument[] }
  | { readonly kind: 'counts'; readonly counts: readonly SkillCounts[] }
  | { readonly kind: 'remove'; readonly ids: readonly number[] }
  | { readonly kind: 'search'; readonly query: IndexQuery }
  | { readonly kind: 'suggest'; readonly q: string; readonly limit: number; readonly viewer: ViewerKeys }

/** The reply to an order: the result or the error, and the size of the index after the order. */
export interface IndexReply {
  readonly found?: SearchHits | string[] | void
  readonly error?: unknown
  readonly size: number
}

/** An order that was sent and has no reply yet. */
interface Job {
  readonly kind: IndexOrder['kind']
  readonly sentMs: number
  readonly documents: number
  readonly resolve: (found: IndexReply['found']) => void
  readonly reject: (error: unknown) => void
}

export interface IndexThreadOptions {
  /** Called when the thread ends before `close`: all searches fail then. */
  readonly onLost: (error: Error) => void
  /** Called when a change of the index fails. */
  readonly onError: (error: unknown) => void
  /** The current time in milliseconds. Default: `performance.now`. */
  readonly now?: () => number
}

/** Documents per order, and maximum documents in the thread's queue: a search waits about 20 ms for a full queue. */
const batchDocuments = 8
const documentsMax = 16
/** Maximum expected waiting time of a search, in milliseconds. Above the maximum, searches are refused. */
const searchDelayMsMax = 400
/** The weight of the newest search in the mean time of a search. */
const newestShare = 0.1

const startIndexWorker = (options: WorkerOptions) => new Worker(new URL('./index-worker.ts', import.meta.url), options)

/**
 * An empty index in its own thread, so that searches of a large catalogue do not delay other requests. The thread
 * handles orders one after another. The constructor throws an error if no thread can be started.
 */
export class IndexThread implements IndexHost {
  readonly hasThread = true
  readonly #options: IndexThreadOptions
  readonly #now: () => number
  // The heap grows with the catalogue, so it has no limit of its own.
  readonly #worker = startThread('index-worker', startIndexWorker, { resourceLimits: {} })
  readonly #jobs: Job[] = []
  #size = 0
  #waitingDocuments = 0
  #waitingSearches = 0
  /** The mean time of a search, in milliseconds. */
  #searchMs = 0
  #repliedMs = 0
  #room = Promise.withResolvers<void>()
  #lost: Error | undefined

  constructor(options: IndexThreadOptions) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
    this.#worker.unref()
    this.#worker.on('message', (reply: IndexReply) => this.#receive(reply))
    this.#worker.on('error', (error: Error) => this.#lose(error))
    this.#worker.on('exit', () => this.#lose(new Error('The thread of the search index ended.')))
  }

  get size(): number {
    return this.#size
  }

  async put(documents: readonly SearchDocument[]): Promise<void> {
    for (let i = 0; i < documents.length; i += batchDocuments) {
      this.#change({ kind: 'put', documents: documents.slice(i, i + batchDocuments) })
      if (this.#waitingDocuments > documentsMax && !this.#lost) await this.#room.promise
    }
  }

  async flush(): Promise<void> {
    await this.#send({ kind: 'put', documents: [] })
  }

  putCounts(counts: readonly SkillCounts[]): void {
    this.#change({ kind: 'counts', counts })
  }

  remove(ids: readonly number[]): void {
    this.#change({ kind: 'remove', ids })
  }

  async search(query: IndexQuery): Promise<SearchHits> {
    this.#requireRoom()
    return (await this.#send({ kind: 'search', query })) as SearchHits
  }

  async suggest(q: string, limit: number, viewer: ViewerKeys): Promise<string[]> {
    this.#requireRoom()
    return (await this.#send({ kind: 'suggest', q, limit, viewer })) as string[]
  }

  close(): void {
    if (!this.#lost) this.#end(new RegistryError('closed', 'The registry was closed. Open it again to use it.'))
    void this.#worker.terminate()
  }

  #receive(reply: IndexReply): void {
    const job = this.#jobs.shift()
    // A reply that arrives after `close` has no job.
    if (!job) return
    if (this.#jobs.length === 0) this.#worker.unref()
    this.#size = reply.size
    this.#count(job)
    if ('error' in reply) job.reject(reply.error)
    else job.resolve(reply.found)
  }

  #count({ kind, sentMs, documents }: Job): void {
    const tookMs = this.#now() - Math.max(sentMs, this.#repliedMs)
    this.#repliedMs = this.#now()
    this.#waitingDocuments -= documents
    if (documents > 0 && this.#waitingDocuments <= documentsMax) this.#makeRoom()
    if (kind !== 'search') return
    this.#waitingSearches--
    this.#searchMs = this.#searchMs === 0 ? tookMs : this.#searchMs + (tookMs - this.#searchMs) * newestShare
  }

  #makeRoom(): void {
    this.#room.resolve()
    this.#room = Promise.withResolvers()
  }

  #end(error: Error): void {
    this.#lost = error
    this.#makeRoom()
    for (const { reject } of this.#jobs.splice(0)) reject(error)
  }

  /** Reports only the first reason: the exit of the thread follows an error. */
  #lose(error: Error): void {
    if (this.#lost) return
    this.#end(error)
    this.#options.onLost(error)
  }

  #send(order: IndexOrder): Promise<IndexReply['found']> {
    if (this.#lost) return Promise.reject(this.#lost)
    const { promise, resolve, reject } = Promise.withResolvers<IndexReply['found']>()
    const documents = order.kind === 'put' ? order.documents.length : 0
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    this.#worker.postMessage(order)
    this.#waitingDocuments += documents
    if (order.kind === 'search') this.#waitingSearches++
    const job = { kind: order.kind, sentMs: this.#now(), documents, resolve, reject }
    if (this.#jobs.push(job) === 1) this.#worker.ref()
    return promise
  }

  /** Sends a change. Reports the failure of a change; the failure of the thread is reported only once. */
  #change(order: IndexOrder): void {
    this.#send(order).catch((error: unknown) => {
      if (error !== this.#lost) this.#options.onError(error)
    })
  }

  #requireRoom(): void {
    const oldest = this.#jobs.find(({ kind }) => kind === 'search')
    const delayMs = Math.max(this.#waitingSearches * this.#searchMs, oldest ? this.#now() - oldest.sentMs : 0)
    if (delayMs <= searchDelayMsMax) return
    throw new RegistryError('overloaded', 'Too many searches are waiting. Try again in a moment.', {
      retryAfterSeconds: 1,
    })
  }
}
