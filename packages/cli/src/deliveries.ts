import { setTimeout as sleep } from 'node:timers/promises'
import type { Delivery, RegistryApi } from '@skillstead/protocol'
import { toOneLine } from './output.ts'

const pollMs = 250

/** Waits until a further attempt of a delivery has ended, but no longer than it is told; the delivery as it is then. */
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
    // Only the newest are listed.
    if (!now) return begun
    if (now.status !== 'pending' || lastNumber(now) > lastNumber(begun)) return now
  }
  return begun
}

/** A delivery and its attempts, a line each: when, what was answered, how long it took, why it failed. */
export function toDeliveryLines({ id, event, status, attempts, nextAttemptAt }: Delivery): string[] {
  const next = nextAttemptAt === null ? '' : `, next attempt ${nextAttemptAt}`
  return [
    `${id}  ${event.padEnd(20)}  ${status}${next}`,
    ...attempts.map(({ number, at, statusCode, durationMs, error }) =>
      `  ${number}  ${at}  ${statusCode ?? '---'}  ${String(durationMs).padStart(5)} ms  ${toOneLine(error ?? '')}`.trimEnd(),
    ),
  ]
}

/** What became of a delivery that was asked for, in a sentence. */
export function toOutcome({ status, attempts, nextAttemptAt }: Delivery): string {
  const last = attempts.at(-1)
  if (status === 'delivered') return 'It was delivered.'
  if (status === 'failed') return `It failed: ${toOneLine(last?.error ?? 'nobody knows why.')}`
  if (nextAttemptAt !== null && Date.parse(nextAttemptAt) > Date.now()) return 'It failed again, and is tried later.'
  return 'It was not tried yet, which takes a node that runs. `skillstead webhooks show` tells what becomes of it.'
}

function lastNumber({ attempts }: Delivery): number {
  return attempts.at(-1)?.number ?? 0
}
