import { pingEvent, type Delivery, type WebhookEvent } from '@skillstead/protocol'
import { toTimestamp } from '../clock.ts'
import type { Caller } from '../caller.ts'
import type { Context } from '../context.ts'
import { newId } from '../ids.ts'
import { pingTopic, type DeliveryPayload } from './events.ts'
import { getOwnWebhook } from './find-webhook.ts'
import { toDelivery } from './webhook-form.ts'

/** POST /webhooks/<id>/ping: a delivery that is tried once, also where the webhook is switched off. */
export async function pingWebhook(context: Context, input: { id: string }, caller: Caller): Promise<Delivery> {
  return context.database.writer.write(async (trx) => {
    const { id: webhookId, url } = await getOwnWebhook(trx, input.id, caller)
    const now = context.clock.now()
    const id = newId()
    const payload = toPayload(webhookId, now)
    const job = { id, topic: pingTopic, lane: webhookId, host: new URL(url).host, payload, dueAt: now }
    await context.outbox.enqueue(trx, job)
    return toDelivery({ id, payload, state: 'pending', attempts: [], dueAt: now, createdAt: now })
  })
}

function toPayload(webhookId: string, now: number): DeliveryPayload {
  const eventId = newId()
  const envelope: WebhookEvent = {
    id: eventId,
    event: pingEvent,
    timestamp: toTimestamp(now),
    data: { webhook: { id: webhookId } },
  }
  return { webhookId, eventId, event: pingEvent, body: JSON.stringify(envelope) }
}
