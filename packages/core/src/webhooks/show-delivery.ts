import { RegistryError, type DeliveryDetails } from '@skillstead/protocol'
import type { Caller } from '../kernel/caller.ts'
import type { WebhooksContext } from './webhooks-context.ts'
import type { DeliveryPayload } from './events.ts'
import { getOwnWebhook } from './find-webhook.ts'
import { keepReadable } from './delivery-readers.ts'
import { toDelivery } from './webhook-form.ts'

/** GET /webhooks/<id>/deliveries/<deliveryId>: with the exact body that was or will be sent. */
export async function showDelivery(
  { database, outbox }: WebhooksContext,
  input: { id: string; deliveryId: string },
  caller: Caller,
): Promise<DeliveryDetails> {
  const webhook = await getOwnWebhook(database.read, input.id, caller)
  const job = await outbox.find(webhook.id, input.deliveryId)
  const delivery = job && (job.payload as DeliveryPayload)
  const shown = delivery && (await keepReadable(database.read, [{ userId: webhook.user_id, delivery }]))
  if (!job || shown?.length === 0) throw new RegistryError('not_found', 'This webhook has no delivery with this id.')
  return { ...toDelivery(job), body: (job.payload as DeliveryPayload).body }
}
