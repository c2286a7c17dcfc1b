import type { Clock } from '../kernel/clock.ts'
import type { ClaimedRow, AttemptResult } from './claims.ts'
import { AttemptError, type Attempt, type OutboxHandler } from './outbox.ts'

/** The end of an attempt: the handler's result, or the error that it threw. */
export type Outcome = { readonly result: { statusCode: number } | void } | { readonly error: unknown }

const attemptsKept = 20
const errorCharactersMax = 2000

/** Runs the handler once on a row. Never rejects. */
export async function runAttempt(row: ClaimedRow, handler: OutboxHandler): Promise<Outcome> {
  try {
    return { result: await handler.handle(toPayload(row.payload), row.attempts + 1, row.id) }
  } catch (error) {
    return { error }
  }
}

/** Computes the next state of a row after an attempt: done, due again, or failed. */
export function toAttemptResult(
  row: ClaimedRow,
  { clock, ...attempt }: { outcome: Outcome; at: number; durationMs: number; clock: Clock },
  { retryDelaysMs }: OutboxHandler,
): AttemptResult {
  const { outcome, at, durationMs } = attempt
  const ended: Attempt = { number: row.attempts + 1, at, durationMs: Math.round(durationMs), ...toRecord(outcome) }
  const attemptLog = JSON.stringify([...toAttempts(row.attempt_log), ended].slice(-attemptsKept))
  const now = clock.now()
  if (!('error' in outcome)) return { row, state: 'done', dueAt: now, startedAt: at, attemptLog }
  const delayMs = retryDelaysMs[row.attempts]
  const isOver = delayMs === undefined || (outcome.error instanceof AttemptError && outcome.error.isFinal)
  return isOver
    ? { row, state: 'failed', dueAt: now, startedAt: at, attemptLog }
    : { row, state: 'pending', dueAt: now + delayMs, startedAt: at, attemptLog }
}

/** Parses the payload of a row. Throws a final {@link AttemptError} if it is damaged: retrying would not help. */
function toPayload(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch (cause) {
    throw new AttemptError('The payload of the job is damaged and cannot be read.', { isFinal: true, cause })
  }
}

/** The recorded attempts of a row. Unreadable text counts as none, so that a damaged row can still complete. */
export function toAttempts(text: string): Attempt[] {
  try {
    return JSON.parse(text) as Attempt[]
  } catch {
    return []
  }
}

function toRecord(outcome: Outcome): Pick<Attempt, 'statusCode' | 'error'> {
  if (!('error' in outcome)) return { statusCode: outcome.result?.statusCode ?? null, error: null }
  const { error } = outcome
  const statusCode = error instanceof AttemptError ? error.statusCode : null
  return { statusCode, error: toMessage(error).slice(0, errorCharactersMax) }
}

/** A handler may throw anything, including values that cannot be converted to text. */
function toMessage(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error)
  } catch {
    return 'The attempt failed with an error that has no text.'
  }
}
