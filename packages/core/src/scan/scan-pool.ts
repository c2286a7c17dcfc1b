import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Security } from '@skillstead/protocol'
import type { ScanFile } from './scan.ts'

/** What is asked of a thread. */
export interface ScanOrder {
  readonly files: readonly ScanFile[]
  readonly now: number
}

/** A report, or why there is none: the thread broke down, or gave no answer in time. */
type Outcome<Report> = Report | 'broken' | 'late'

interface Job<Report, Order> {
  readonly toOrder: () => Order
  readonly resolve: (outcome: Outcome<Report>) => void
}

/** How many threads a pool has where nobody says otherwise. */
export const workersMax = Math.min(2, availableParallelism())
/** Ten times what the largest package takes. */
const answerMs = 120_000
/** The source runs as it is; what is published has been compiled. */
const workerUrl = new URL(`./scan-worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url)

/** Threads that scan, made when first needed and kept. An idle one keeps no process alive. */
export class ScanPool<Report extends object = Security, Order = ScanOrder> {
  readonly #idle: Worker[] = []
  readonly #waiting: Job<Report, Order>[] = []
  readonly #url: URL
  readonly #answerMs: number
  readonly #workersMax: number
  #workers = 0

  constructor(options: { url?: URL; answerMs?: number; workersMax?: number } = {}) {
    this.#url = options.url ?? workerUrl
    this.#answerMs = options.answerMs ?? answerMs
    this.#workersMax = options.workersMax ?? workersMax
  }

  /** An order that is large is made when a thread takes it, rather than kept while it waits. */
  async ask(order: Order | (() => Order)): Promise<Outcome<Report>> {
    const { promise, resolve } = Promise.withResolvers<Outcome<Report>>()
    this.#waiting.push({ toOrder: typeof order === 'function' ? (order as () => Order) : () => order, resolve })
    this.#next()
    return promise
  }

  #next(): void {
    const job = this.#waiting[0]
    if (!job || (this.#idle.length === 0 && this.#workers === this.#workersMax)) return
    this.#waiting.shift()
    const worker = this.#idle.pop() ?? this.#start()
    if (worker) return this.#run(worker, job)
    job.resolve('broken')
    this.#next()
  }

  /** Undefined where the system gives no thread. */
  #start(): Worker | undefined {
    try {
      const worker = new Worker(this.#url)
      this.#workers++
      return worker
    } catch {
      return undefined
    }
  }

  #run(worker: Worker, { toOrder, resolve }: Job<Report, Order>): void {
    const end = (outcome: Outcome<Report>) => {
      clearTimeout(timer)
      worker.removeAllListeners()
      if (typeof outcome === 'object') this.#keep(worker)
      else this.#drop(worker)
      resolve(outcome)
      this.#next()
    }
    const timer = setTimeout(end, this.#answerMs, 'late' as const)
    worker.removeAllListeners()
    worker.once('message', end)
    worker.once('error', () => end('broken'))
    worker.once('exit', () => end('broken'))
    worker.ref()
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    worker.postMessage(toOrder())
  }

  #keep(worker: Worker): void {
    worker.unref()
    this.#idle.push(worker)
    // One that breaks down while nobody asks anything of it is not used again.
    worker.once('error', () => undefined)
    worker.once('exit', () => this.#forget(worker))
  }

  #drop(worker: Worker): void {
    this.#workers--
    worker.on('error', () => undefined)
    void worker.terminate()
  }

  #forget(worker: Worker): void {
    const index = this.#idle.indexOf(worker)
    if (index === -1) return
    this.#idle.splice(index, 1)
    this.#workers--
  }
}
