import type { WriteTransaction } from '../storage/writer.ts'

/** A piece of work that must survive a restart. */
export interface OutboxJob {
  /** One of its own where it is not said. */
  readonly id?: string
  readonly topic: string
  readonly payload: Record<string, unknown>
  /** When to begin, in milliseconds since 1970; at once where it is not said. */
  readonly dueAt?: number
  /** While a row of this key waits, another is not added. */
  readonly uniqueKey?: string
  /** Lanes take turns: what waits in one keeps nothing in another from its turn. The topic where it is not said. */
  readonly lane?: string
  /** Where the work goes to; no host is asked too much at a time. */
  readonly host?: string
}

/** One attempt that ended. */
export interface Attempt {
  readonly number: number
  /** When it began, in milliseconds since 1970. */
  readonly at: number
  readonly durationMs: number
  /** What the other side answered, where it did and answers have one. */
  readonly statusCode: number | null
  /** Why it failed; null where it did not. */
  readonly error: string | null
}

/** An attempt that failed, with what is to be recorded of it. Any other error counts as one of which nothing is known. */
export class AttemptError extends Error {
  override readonly name = 'AttemptError'
  readonly statusCode: number | null
  /** Whether further attempts are of no use. */
  readonly isFinal: boolean

  constructor(message: string, options: { statusCode?: number; isFinal?: boolean; cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.statusCode = options.statusCode ?? null
    this.isFinal = options.isFinal ?? false
  }
}

export type JobState = 'pending' | 'done' | 'failed'

/** A row that has come to its end. */
export interface EndedJob {
  readonly id: string
  readonly lane: string
  readonly payload: Record<string, unknown>
  readonly state: 'done' | 'failed'
  readonly attempts: number
  /** When the last of them began, in milliseconds since 1970. */
  readonly startedAt: number
}

/** A row as it stands. */
export interface JobView {
  readonly id: string
  readonly payload: Record<string, unknown>
  readonly state: JobState
  /** The newest attempts that ended, oldest first. */
  readonly attempts: readonly Attempt[]
  readonly dueAt: number
  readonly createdAt: number
}

/** A row as operators list it. */
export interface JobSummary extends Omit<JobView, 'payload'> {
  readonly topic: string
  readonly lane: string
  /** Of the attempts only the newest are kept; how many there were in all. */
  readonly attemptsMade: number
}

/** Which rows are listed: of these states, one after the other. */
export interface JobBrowse {
  readonly states: readonly JobState[]
  readonly topic?: string | undefined
  readonly page: number
  readonly limit: number
}

export interface TopicCounts {
  readonly kind: string
  readonly pending: number
  readonly failed: number
}

export interface OutboxHandler {
  /**
   * Does the work; what it throws is kept with the row. A row may be handled more than once: by a process that was
   * killed before it could say so, and by the next.
   */
  handle(payload: Record<string, unknown>, attempt: number, id: string): Promise<{ statusCode: number } | void>
  /** Milliseconds from the end of each attempt to the next; after the last the row has failed. */
  readonly retryDelaysMs: readonly number[]
  /** Called in the transaction that ends rows; a row that comes round again is enqueued here. */
  afterwards?(trx: WriteTransaction, ended: readonly EndedJob[]): Promise<void>
}

/** What an operator watches. */
export interface OutboxFigures {
  readonly pending: number
  readonly failed: number
  /** When the oldest of what has not ended became due, in milliseconds since 1970; null where there is nothing. */
  readonly oldestDueAt: number | null
  /** Attempts that this process ended, and how many of them failed. */
  readonly attempts: number
  readonly failures: number
}

/**
 * The persistent queue. Rows are written in the transaction of their cause and claimed with leases, so that a killed
 * process loses nothing and no two nodes do one row at the same time. Nothing is promised about their order.
 */
export interface Outbox {
  handle(topic: string, handler: OutboxHandler): void
  enqueue(trx: WriteTransaction, ...jobs: OutboxJob[]): Promise<void>
  /** The newest rows of a lane, newest first. */
  list(lane: string, limit: number): Promise<JobView[]>
  /** One of them; undefined where the lane has no such row. */
  find(lane: string, id: string): Promise<JobView | undefined>
  /**
   * Makes a row due now: one that waits, or once more one that failed; one that is done stays so. Answers it as it is
   * then, or undefined where the lane has no such row.
   */
  retry(trx: WriteTransaction, lane: string, id: string): Promise<JobView | undefined>
  /** Sends what waits in a lane to another host, in strides. */
  redirect(lane: string, host: string): Promise<void>
  /** Deletes rows that ended before a time, in strides. */
  sweep(before: { done: number; failed: number }): Promise<void>
  /** Looks for due rows now, and again whenever one becomes due. */
  start(): void
  /** Lets what is running end, gives back what was claimed and not begun, and claims no more. */
  stop(): Promise<void>
  figures(): Promise<OutboxFigures>
  /** A page of rows for an operator: what waits by its turn, what ended the last first. */
  browse(wanted: JobBrowse): Promise<{ rows: JobSummary[]; total: number }>
  /** How much waits and failed of each topic. */
  countTopics(): Promise<TopicCounts[]>
}
