import { availableParallelism } from 'node:os'
import type { Worker } from 'node:worker_threads'

/** A report, or why there is none: the thread crashed, or exceeded its time. */
type Outcome<Report> = Report | 'broken' | 'late'

interface Job<Report, Order> {
  readonly toOrder: () => Order
  readonly bytes: number
  readonly resolve: (outcome: Outcome<Report>) => void
}

/** A thread and its orders: the thread runs the first order, and the other orders wait in its message queue. */
interface Thread<Report, Order> {
  readonly worker: Worker
  readonly jobs: Job<Report, Order>[]
  /** The timer that ends the thread if its order takes too long, or if it stays without an order. */
  timer?: NodeJS.Timeout
}

/** Default number of threads in a pool. */
export const workersMax = Math.min(2, availableParallelism())
/** Default timeout of an order: ten times the duration for the largest package. */
const answerMs = 120_000

/**
 * Maximum size of the orders in a thread's queue. With a queue the thread continues while the event loop waits for the
 * disk; the limit prevents orders from waiting in it while another thread is idle.
 */
const aheadBytesMax = 128 * 1024
/**
 * Maximum size of the orders in a thread's queue before another thread starts. Starting one takes longer than smaller
 * orders do, and its memory stays in use for a while.
 */
const unsharedBytesMax = 64 * 1024

/** The duration without orders after which a thread ends, which frees some 50 MB. The last thread stays. */
const idleMs = 60_000

/** Settings of a {@link WorkerPool}. */
export interface WorkerPoolOptions {
  /** Starts a thread; throws an error if that is impossible. */
  readonly start: () => Worker
  /** Timeout of an order in milliseconds. Default: 120,000. */
  readonly answerMs?: number
  /** The duration in milliseconds after which an idle thread ends unless it is the only one. Default: 60,000. */
  readonly idleMs?: number
  /** Maximum number of threads. Default: 2, or 1 on a machine with one processor. */
  readonly workersMax?: number
}

/**
 * Worker threads, started on first use and reused. An idle thread does not keep the process alive, and ends after a while
 * unless it is the only one.
 *
 * Piscina 5 does not fit: it starts its own `worker.js` from its own folder, which does not exist in the single-file
 * program; it limits a thread's queue by the number of tasks, not by their bytes; it holds the data of all waiting tasks in
 * memory; and it ends tasks by an abort signal, and a task with a signal cannot wait in a thread behind another task.
 */
export class WorkerPool<Report extends object, Order> {
  readonly #threads: Thread<Report, Order>[] = []
  readonly #waiting: Job<Report, Order>[] = []
  readonly #options: Required<WorkerPoolOptions>

  constructor(options: WorkerPoolOptions) {
    this.#options = { answerMs, idleMs, workersMax, ...options }
  }

  /**
   * Runs an order in a thread. Pass a large order as a function: it is built when a thread takes it, and uses no memory
   * while it waits. An order with few `bytes` may share a thread's queue with others.
   */
  async ask(order: Order | (() => Order), bytes = Infinity): Promise<Outcome<Report>> {
    const { promise, resolve } = Promise.withResolvers<Outcome<Report>>()
    const toOrder = typeof order === 'function' ? (order as () => Order) : () => order
    this.#waiting.push({ toOrder, bytes, resolve })
    this.#next()
    return promise
  }

  #next(): void {
    for (let job = this.#waiting[0]; job; job = this.#waiting[0]) {
      const thread = this.#choose(job.bytes)
      if (thread === 'busy') return
      this.#waiting.shift()
      if (thread) this.#give(thread, job)
      else job.resolve('broken')
    }
  }

  /** Chooses a thread: 'busy' if all queues are full; undefined if the system provides no thread. */
  #choose(bytes: number): Thread<Report, Order> | 'busy' | undefined {
    const idle = this.#threads.find(({ jobs }) => jobs.length === 0)
    if (idle) return idle
    const loads = this.#threads.map(({ jobs }) => jobs.reduce((sum, job) => sum + job.bytes, bytes))
    const least = Math.min(...loads)
    if (this.#threads.length < this.#options.workersMax && least > unsharedBytesMax) return this.#start()
    return least <= aheadBytesMax ? this.#threads[loads.indexOf(least)] : 'busy'
  }

  #start(): Thread<Report, Order> | undefined {
    try {
      const thread: Thread<Report, Order> = { worker: this.#options.start(), jobs: [] }
      thread.worker.on('message', (report: Report) => this.#take(thread, report))
      // Messages arrive before the exit event, which follows each error.
      thread.worker.on('error', () => undefined)
      thread.worker.on('exit', () => this.#drop(thread, 'broken'))
      this.#threads.push(thread)
      return thread
    } catch {
      return undefined
    }
  }

  #give(thread: Thread<Report, Order>, job: Job<Report, Order>): void {
    try {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      thread.worker.postMessage(job.toOrder())
    } catch {
      // The order cannot be copied, for example because memory is short.
      if (thread.jobs.length === 0) this.#rest(thread)
      return job.resolve('broken')
    }
    thread.worker.ref()
    if (thread.jobs.push(job) === 1) this.#watch(thread)
  }

  #watch(thread: Thread<Report, Order>): void {
    clearTimeout(thread.timer)
    thread.timer = setTimeout(() => this.#drop(thread, 'late'), this.#options.answerMs)
  }

  #rest(thread: Thread<Report, Order>): void {
    thread.worker.unref()
    clearTimeout(thread.timer)
    thread.timer = setTimeout(() => {
      if (this.#threads.length > 1) this.#drop(thread, 'broken')
    }, this.#options.idleMs).unref()
  }

  #take(thread: Thread<Report, Order>, report: Report): void {
    thread.jobs.shift()?.resolve(report)
    if (thread.jobs.length > 0) this.#watch(thread)
    else this.#rest(thread)
    this.#next()
  }

  /** Removes a thread: its current order fails with `why`, its queued orders move to another thread. */
  #drop(thread: Thread<Report, Order>, why: 'broken' | 'late'): void {
    const index = this.#threads.indexOf(thread)
    if (index === -1) return
    this.#threads.splice(index, 1)
    clearTimeout(thread.timer)
    void thread.worker.terminate()
    const [first, ...others] = thread.jobs.splice(0)
    this.#waiting.unshift(...others)
    first?.resolve(why)
    this.#next()
  }
}
