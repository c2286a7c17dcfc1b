import { RegistryError, type Delivery } from '@skillstead/protocol'
import type { Caller } from '../kernel/caller.ts'
import type { WebhooksContext } from './webhooks-context.ts'
import { getOwnWebhook } from './find-webhook.ts'
import { keepReadable } from './delivery-readers.ts'
import type { DeliveryPayload } from './events.ts'
import { toDelivery } from './webhook-form.ts'

/**
 * POST /webhooks/<id>/deliveries/<deliveryId>/retry: a fresh attempt at once, under the same event id. Throws
 * `invalid_transition` for one that is delivered, `conflict` while the webhook is switched off.
 */
export async function retryDelivery(
  { database, outbox }: WebhooksContext,
  input: { id: string; deliveryId: string },
  caller: Caller,
): Promise<Delivery> {
  return database.writer.write(async (trx) => {
    const webhook = await getOwnWebhook(trx, input.id, caller)
    const job = await outbox.retry(trx, webhook.id, input.deliveryId)
    const delivery = job && (job.payload as DeliveryPayload)
    const shown = delivery && (await keepReadable(trx, [{ userId: webhook.user_id, delivery }]))
    if (!job || shown?.length === 0) throw new RegistryError('not_found', 'This webhook has no delivery with this id.')
    if (job.state === 'done') {
      throw new RegistryError('invalid_transition', 'This delivery has arrived; only others can be tried again.')
    }
    // What is thrown here takes the change back.
    if (webhook.active === 0) {
      throw new RegistryError('conflict', 'The webhook is switched off. Switch it on, then try the delivery again.')
    }
    return toDelivery(job)
  })
}
