import { recordAudit } from '../log/audit.ts'
import type { Caller } from '../kernel/caller.ts'
import type { WebhooksContext } from './webhooks-context.ts'
import { getOwnWebhook } from './find-webhook.ts'
import { announceWebhooks } from './subscribe-webhook.ts'

/** DELETE /webhooks/<id>: its pending deliveries fail when they become due. */
export async function deleteWebhook(
  context: WebhooksContext,
  input: { id: string },
  caller: Caller,
): Promise<undefined> {
  await context.database.writer.write(async (trx) => {
    const { id, user_id } = await getOwnWebhook(trx, input.id, caller)
    const at = context.clock.now()
    await trx.deleteFrom('webhook_subscriptions').where('webhook_id', '=', id).execute()
    await trx.deleteFrom('webhooks').where('id', '=', id).execute()
    await announceWebhooks(trx, user_id, at)
    await recordAudit(trx, { caller, action: 'webhook.delete', subject: id, at })
  })
}
