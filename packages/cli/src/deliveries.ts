import { setTimeout as sleep } from 'node:timers/promises'
import type { Delivery, RegistryApi } from '@skillstead/protocol'
import { toOneLine } from './output.ts'

const pollMs = 250

/** Waits up to `waitMs` for the next attempt of a delivery to end. Returns the delivery as it is then. */
export async function awaitAttempt(
  api: RegistryApi,
  webhookId: string,
  begun: Delivery,
  waitMs: number,
): Promise<Delivery> {
  const until = performance.now() + waitMs
  while (performance.now() < until) {
    await sleep(pollMs)
    const { deliveries } = await api.getWebhook({ id: webhookId })
    const now = deliveries.find(({ id }) => id === begun.id)
    // Only the newest deliveries are listed.
    if (!now) return begun
    if (now.status !== 'pending' || lastNumber(now) > lastNumber(begun)) return now
  }
  return begun
}

/** A delivery and its attempts, one per line: time, response status, duration, error. */
export function toDeliveryLines({ id, event, status, attempts, nextAttemptAt }: Delivery): string[] {
  const next = nextAttemptAt === null ? '' : `, next attempt ${nextAttemptAt}`
  return [
    `${id}  ${event.padEnd(20)}  ${status}${next}`,
    ...attempts.map(({ number, at, statusCode, durationMs, error }) =>
      `  ${number}  ${at}  ${statusCode ?? '---'}  ${String(durationMs).padStart(5)} ms  ${toOneLine(error ?? '')}`.trimEnd(),
    ),
  ]
}

/** The result of a requested delivery in one sentence. */
export function toOutcome({ status, attempts, nextAttemptAt }: Delivery): string {
  const last = attempts.at(-1)
  if (status === 'delivered') return 'It was delivered.'
  if (status === 'failed') return `It failed: ${toOneLine(last?.error ?? 'unknown error.')}`
  if (nextAttemptAt !== null && Date.parse(nextAttemptAt) > Date.now())
    return 'It failed again and will be retried later.'
  return 'It was not attempted yet: a running node has to deliver it. See the result with `skillstead webhooks show`.'
}

function lastNumber({ attempts }: Delivery): number {
  return attempts.at(-1)?.number ?? 0
}
