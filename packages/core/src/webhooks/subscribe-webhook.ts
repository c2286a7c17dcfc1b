import { appendChange } from '../log/append-change.ts'
import type { WebhookRow } from '../storage/rows-webhooks.ts'
import type { WriteTransaction } from '../storage/writer.ts'

/** Has a webhook found by its events while it is active, and by none while it is not. */
export async function subscribe(
  trx: WriteTransaction,
  { id, user_id, events, active }: Pick<WebhookRow, 'id' | 'user_id' | 'events' | 'active'>,
): Promise<void> {
  await trx.deleteFrom('webhook_subscriptions').where('webhook_id', '=', id).execute()
  if (active === 0) return
  const rows = (JSON.parse(events) as string[]).map((event) => ({ event, user_id, webhook_id: id }))
  await trx.insertInto('webhook_subscriptions').values(rows).execute()
}

/** Tells every node that the webhooks of a user changed; who subscribes to what is kept in memory. */
export async function announceWebhooks(trx: WriteTransaction, userId: string, at: number): Promise<void> {
  await appendChange(trx, { kind: 'webhooks', subject: userId, at, entries: [] })
}
