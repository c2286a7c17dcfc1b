import { isRegistryError, attempt } from '@skillstead/protocol'
import type { Clock } from '../kernel/clock.ts'
import type { AttemptResult, ClaimedRow } from './claims.ts'
import { type Attempt, AttemptError, type OutboxHandler } from './jobs.ts'

/** The end of an attempt: what is written to the row, and the error of a failure. */
export type EndedAttempt = AttemptResult & { readonly failure?: { readonly error: unknown } }

const attemptsKept = 20
const errorCharactersMax = 2000

/** Runs the handler once on a row, and decides about the row: done, due again, or failed. Never rejects. */
export async function attemptRow(row: ClaimedRow, handler: OutboxHandler<object>, clock: Clock): Promise<EndedAttempt> {
  const at = clock.now()
  const startedMs = performance.now()
  const outcome = await handleRow(row, handler)
  const durationMs = Math.round(performance.now() - startedMs)
  const made: Attempt = { number: row.attempts + 1, at, durationMs, ...toAttemptRecord(outcome) }
  const attemptLog = JSON.stringify([...toAttempts(row.attempt_log), made].slice(-attemptsKept))
  const ended = { row, dueAt: clock.now(), startedAt: at, attemptLog }
  if (!('error' in outcome)) return { ...ended, state: 'done' }
  const delayMs = handler.retryDelaysMs[row.attempts]
  const isOver = delayMs === undefined || (outcome.error instanceof AttemptError && outcome.error.isFinal)
  if (isOver) return { ...ended, state: 'failed', failure: outcome }
  return { ...ended, state: 'pending', dueAt: ended.dueAt + delayMs, failure: outcome }
}

/** Whether an attempt ended only because this node shuts down. */
export function isShutdown({ failure }: EndedAttempt): boolean {
  return isRegistryError(failure?.error, 'shutting_down')
}

type HandlerOutcome = { readonly result: { statusCode: number } | void } | { readonly error: unknown }

async function handleRow(row: ClaimedRow, handler: OutboxHandler<object>): Promise<HandlerOutcome> {
  try {
    const payload = parsePayload(row.payload)
    // A retry would read the same damaged payload.
    if (!payload) throw new AttemptError('The payload of the job is damaged and cannot be read.', { isFinal: true })
    return { result: await handler.handle(payload, row.attempts + 1, row.id) }
  } catch (error) {
    return { error }
  }
}

/** The payload of a row; undefined for damaged text. */
export function parsePayload(text: string): Record<string, unknown> | undefined {
  return attempt(() => JSON.parse(text))
}

/** The recorded attempts of a row. Unreadable text counts as none, so that a damaged row can still complete. */
export function toAttempts(text: string): Attempt[] {
  return attempt<Attempt[]>(() => JSON.parse(text)) ?? []
}

function toAttemptRecord(outcome: HandlerOutcome): Pick<Attempt, 'statusCode' | 'error'> {
  if (!('error' in outcome)) return { statusCode: outcome.result?.statusCode ?? null, error: null }
  const { error } = outcome
  // A handler may throw anything, including values that cannot be converted to text.
  const message = attempt(() => String(error instanceof Error ? error.message : error))
  const text = message ?? 'The attempt failed with an error that has no text.'
  const statusCode = error instanceof AttemptError ? error.statusCode : null
  return { statusCode, error: text.slice(0, errorCharactersMax) }
}
