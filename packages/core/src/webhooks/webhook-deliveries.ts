import { type Delivery, type DeliveryDetails, pingEvent, RegistryError } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import type { AccountsContext } from '../accounts/accounts-context.ts'
import { findReadable } from '../visibility/decisions.ts'
import type { Caller } from '../kernel/caller.ts'
import { newId } from '../kernel/ids.ts'
import type { Input } from '../kernel/operation-input.ts'
import type { JobView } from '../outbox/jobs.ts'
import type { Tables, WebhookRow } from '../storage/tables.ts'
import { type DeliveryPayload, pingTopic, toDeliveries } from './events.ts'
import { getOwnWebhook, toDelivery } from './webhook-form.ts'

/** GET /webhooks/<id>/deliveries/<deliveryId>: with the exact body that was or will be sent. */
export async function showDelivery(
  { database, outbox }: AccountsContext,
  input: Input<'getDelivery'>,
  caller: Caller,
): Promise<DeliveryDetails> {
  const webhook = await getOwnWebhook(database.read, input.id, caller)
  const job = await requireShownDelivery(database.read, webhook, await outbox.find(webhook.id, input.deliveryId))
  return { ...toDelivery(job), body: (job.payload as DeliveryPayload).body }
}

async function requireShownDelivery(db: Kysely<Tables>, { user_id: userId }: WebhookRow, job: JobView | undefined) {
  const shown = job && (await keepReadable(db, [{ userId, delivery: job.payload }]))
  if (job && shown?.length === 1) return job
  throw new RegistryError('not_found', 'This webhook has no delivery with this id.')
}

/**
 * POST /webhooks/<id>/deliveries/<deliveryId>/retry: a new attempt at once, with the same event id. Throws
 * `invalid_transition` for a completed delivery, `conflict` while the webhook is disabled.
 */
export async function retryDelivery(
  { database, outbox }: AccountsContext,
  input: Input<'retryDelivery'>,
  caller: Caller,
): Promise<Delivery> {
  return database.writer.write(async (trx) => {
    const webhook = await getOwnWebhook(trx, input.id, caller)
    const job = await requireShownDelivery(trx, webhook, await outbox.retry(trx, webhook.id, input.deliveryId))
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

/** POST /webhooks/<id>/ping: a delivery that is tried once, even if the webhook is disabled. */
export async function pingWebhook(
  context: AccountsContext,
  input: Input<'pingWebhook'>,
  caller: Caller,
): Promise<Delivery> {
  return context.database.writer.write(async (trx) => {
    const { id: webhookId, url } = await getOwnWebhook(trx, input.id, caller)
    const now = context.clock.now()
    const [job] = toDeliveries([{ webhookId, url }], pingEvent, { webhook: { id: webhookId } }, now)
    const id = newId()
    await context.outbox.enqueue(trx, { ...job!, id, topic: pingTopic })
    return toDelivery({ id, payload: job!.payload, state: 'pending', attempts: [], dueAt: now, createdAt: now })
  })
}

/** A delivery with the user who owns the webhook. */
export interface AddressedDelivery {
  readonly userId: string
  readonly delivery: JobView['payload']
}

/**
 * Returns the deliveries whose webhook owner may still read the skill: since the event, the skill may have become
 * private, or the owner may have lost access.
 */
export async function keepReadable<T extends AddressedDelivery>(
  db: Kysely<Tables>,
  deliveries: readonly T[],
): Promise<T[]> {
  const about = deliveries.map((one) => ({ one, skillId: toSkillId(one.delivery) }))
  const pairs = about.flatMap(({ one: { userId }, skillId }) => (skillId === undefined ? [] : [{ userId, skillId }]))
  const isReadable = await findReadable(db, pairs)
  return about
    .filter(({ one, skillId }) => skillId === undefined || isReadable(skillId, one.userId))
    .map(({ one }) => one)
}

/** The id of the skill of an event; undefined for an event without a skill. */
function toSkillId({ body }: JobView['payload']): string | undefined {
  if (typeof body !== 'string') return undefined
  const { data }: { data?: { skill?: { id?: string } } } = JSON.parse(body)
  return data?.skill?.id
}
