import type { WriteTransaction } from '../storage/writer.ts'

declare const contents: unique symbol

/** The name of a kind of jobs, which all have a payload of this type. */
export type Topic<Payload> = string & { readonly [contents]?: Payload }

/** A background job that survives a restart. */
export interface OutboxJob<Payload = Record<string, unknown>> {
  /** Default: a new id. */
  readonly id?: string
  readonly topic: Topic<Payload>
  readonly payload: Payload
  /** Earliest start, in milliseconds since 1970. Default: at once. */
  readonly dueAt?: number
  /** While a pending row has this key, adding another job with the same key has no effect. */
  readonly uniqueKey?: string
  /**
   * Partition key: partitions take turns, so a backlog in one partition does not delay the others. Default: the topic.
   */
  readonly partition?: string
  /** Host that the job contacts. The number of parallel jobs per host is limited. */
  readonly host?: string
}

/** One completed attempt. */
export interface Attempt {
  readonly number: number
  /** Start, in milliseconds since 1970. */
  readonly at: number
  readonly durationMs: number
  /** HTTP status of the response; null if there was none or the job is not an HTTP request. */
  readonly statusCode: number | null
  /** Why the attempt failed; null if it succeeded. */
  readonly error: string | null
}

/** A failed attempt with details to record. Any other error is recorded with its message alone. */
export class AttemptError extends Error {
  override readonly name = 'AttemptError'
  readonly statusCode: number | null
  /** Whether retrying is useless. */
  readonly isFinal: boolean

  constructor(message: string, options: { statusCode?: number; isFinal?: boolean; cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.statusCode = options.statusCode ?? null
    this.isFinal = options.isFinal ?? false
  }
}

export type JobState = 'pending' | 'done' | 'failed'

/** A row that is done or has failed. */
export interface EndedJob<Payload = Record<string, unknown>> {
  readonly id: string
  readonly partition: string
  readonly payload: Payload
  readonly state: 'done' | 'failed'
  readonly attempts: number
  /** Start of the last attempt, in milliseconds since 1970; the current time if the clock was set back meanwhile. */
  readonly startedAt: number
}

/** Current state of a row. */
export interface JobView {
  readonly id: string
  readonly payload: Record<string, unknown>
  readonly state: JobState
  /** The newest completed attempts, oldest first. */
  readonly attempts: readonly Attempt[]
  readonly dueAt: number
  readonly createdAt: number
}

export interface OutboxHandler<Payload = Record<string, unknown>> {
  /**
   * Does the work. An error that it throws is recorded with the row. A row may be handled more than once: when a
   * process is killed before it records the result, another process handles the row again.
   */
  handle(payload: Payload, attempt: number, id: string): Promise<{ statusCode: number } | void>
  /** Delays in milliseconds before the retries. If the attempt after the last delay fails too, the row has failed. */
  readonly retryDelaysMs: readonly number[]
  /**
   * Whether jobs are due at a time that is also stored elsewhere, such as a deadline. Such a time is not corrected
   * after the clock was set back. Default: false.
   */
  readonly hasDeadlines?: boolean
  /** Called in the transaction that completes rows. Recurring jobs enqueue their next run here. */
  afterwards?(trx: WriteTransaction, ended: readonly EndedJob<Payload>[]): Promise<void>
}

/** Metrics of the outbox. */
export interface OutboxFigures {
  readonly pending: number
  readonly failed: number
  /** The earliest due time of a pending row, past or future, in milliseconds since 1970; null if none is pending. */
  readonly oldestDueAt: number | null
  /** Attempts that this process completed, and how many of them failed. */
  readonly attempts: number
  readonly failures: number
}
