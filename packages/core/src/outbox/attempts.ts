import type { Clock } from '../kernel/clock.ts'
import type { ClaimedRow, Settlement } from './claims.ts'
import { AttemptError, type Attempt, type OutboxHandler } from './outbox.ts'

/** How an attempt ended: with what the handler answered, or with what it threw. */
export type Outcome = { readonly result: { statusCode: number } | void } | { readonly error: unknown }

const attemptsKept = 20
const errorCharactersMax = 2000

/** Does the work of a row once. Never rejects. */
export async function runAttempt(row: ClaimedRow, handler: OutboxHandler): Promise<Outcome> {
  try {
    return { result: await handler.handle(toPayload(row.payload), row.attempts + 1, row.id) }
  } catch (error) {
    return { error }
  }
}

/** How a row goes on after an attempt. */
export function toSettlement(
  row: ClaimedRow,
  { clock, ...attempt }: { outcome: Outcome; at: number; durationMs: number; clock: Clock },
  { retryDelaysMs }: OutboxHandler,
): Settlement {
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

/** Throws an {@link AttemptError} where a row holds what nobody wrote: that gets no better by waiting. */
function toPayload(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch (cause) {
    throw new AttemptError('The row of the outbox cannot be read.', { isFinal: true, cause })
  }
}

/** The attempts of a row; none where they cannot be read, so that one broken row keeps no others from their end. */
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

/** A handler may throw anything, also what no text can be made of. */
function toMessage(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error)
  } catch {
    return 'The attempt failed, and what it failed with cannot be told.'
  }
}
