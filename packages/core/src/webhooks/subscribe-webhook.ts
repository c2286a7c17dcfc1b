import { appendChange } from '../log/append-change.ts'
import type { WebhookRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'

/** Stores the subscriptions of an active webhook; removes those of a disabled one. */
export async function subscribe(
  trx: WriteTransaction,
  { id, user_id, events, active }: Pick<WebhookRow, 'id' | 'user_id' | 'events' | 'active'>,
): Promise<void> {
  await trx.deleteFrom('webhook_subscriptions').where('webhook_id', '=', id).execute()
  if (active === 0) return
  const rows = (JSON.parse(events) as string[]).map((event) => ({ event, user_id, webhook_id: id }))
  await trx.insertInto('webhook_subscriptions').values(rows).execute()
}

/** Notifies every node that a user's webhooks changed, since nodes cache subscriptions. */
export async function announceWebhooks(trx: WriteTransaction, userId: string, at: number): Promise<void> {
  await appendChange(trx, { kind: 'webhooks', subject: userId, at, entries: [] })
}
