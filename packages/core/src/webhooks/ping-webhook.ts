import { pingEvent, type Delivery } from '@skillstead/protocol'
import type { Caller } from '../kernel/caller.ts'
import type { WebhooksContext } from './webhooks-context.ts'
import { newId } from '../kernel/ids.ts'
import { pingTopic, toDeliveries } from './events.ts'
import { getOwnWebhook } from './find-webhook.ts'
import { toDelivery } from './webhook-form.ts'

/** POST /webhooks/<id>/ping: a delivery that is tried once, even if the webhook is disabled. */
export async function pingWebhook(context: WebhooksContext, input: { id: string }, caller: Caller): Promise<Delivery> {
  return context.database.writer.write(async (trx) => {
    const { id: webhookId, url } = await getOwnWebhook(trx, input.id, caller)
    const now = context.clock.now()
    const [job] = toDeliveries([{ webhookId, url }], pingEvent, { webhook: { id: webhookId } }, now)
    const id = newId()
    await context.outbox.enqueue(trx, { ...job!, id, topic: pingTopic })
    return toDelivery({ id, payload: job!.payload, state: 'pending', attempts: [], dueAt: now, createdAt: now })
  })
}
