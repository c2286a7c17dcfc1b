import { RegistryError, type Delivery } from '@skillstead/protocol'
import type { Caller } from '../kernel/caller.ts'
import type { WebhooksContext } from './webhooks-context.ts'
import { getOwnWebhook } from './find-webhook.ts'
import { keepReadable } from './delivery-readers.ts'
import type { DeliveryPayload } from './events.ts'
import { toDelivery } from './webhook-form.ts'

/**
 * POST /webhooks/<id>/deliveries/<deliveryId>/retry: a new attempt at once, with the same event id. Throws
 * `invalid_transition` for a completed delivery, `conflict` while the webhook is disabled.
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
      throw new RegistryError('invalid_transition', 'This delivery was already delivered and cannot be retried.')
    }
    // An error thrown here rolls the change back.
    if (webhook.active === 0) {
      throw new RegistryError('conflict', 'The webhook is disabled. Enable it, then retry the delivery.')
    }
    return toDelivery(job)
  })
}
