import type { EventName, Webhook } from '@skillstead/protocol'
import { recordAudit } from '../log/audit.ts'
import type { Caller } from '../kernel/caller.ts'
import type { WebhooksContext } from './webhooks-context.ts'
import { readNewestRows } from '../outbox/newest-rows.ts'
import type { WebhookRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { toHost } from './events.ts'
import { getOwnWebhook } from './find-webhook.ts'
import { announceWebhooks, subscribe } from './subscribe-webhook.ts'
import { toWebhook } from './webhook-form.ts'

/** How long deliveries are also signed with the previous secret. */
const overlapMs = 24 * 60 * 60 * 1000

interface WebhookChanges {
  id: string
  url?: string
  events?: EventName[]
  active?: boolean
  skills?: string[] | null
  secret?: string
}

/** PATCH /webhooks/<id>: omitted fields are unchanged. Throws as `createWebhook` does, and `not_found`. */
export async function updateWebhook(context: WebhooksContext, input: WebhookChanges, caller: Caller): Promise<Webhook> {
  // Check the owner first, so that no DNS query is made for another user's webhook.
  await getOwnWebhook(context.database.read, input.id, caller)
  if (input.url !== undefined) await context.outgoing.requirePublic(input.url, 'url')
  const { before, after } = await context.database.writer.write((trx) => storeChanges(context, trx, input, caller))
  // Pending deliveries go to the new URL in any case; this moves them to the queue of its host, with that host's
  // limits.
  if (after.url !== before.url) await context.outbox.redirect(after.id, toHost(after.url))
  return toWebhook(after, (await readNewestRows(context.database, [after.id])).get(after.id))
}

async function storeChanges(context: WebhooksContext, trx: WriteTransaction, input: WebhookChanges, caller: Caller) {
  const before = await getOwnWebhook(trx, input.id, caller)
  const at = context.clock.now()
  const changes = toChanges(before, input, at)
  if (Object.keys(changes).length === 0) return { before, after: before }
  const after: WebhookRow = { ...before, ...changes, updated_at: at }
  await trx.updateTable('webhooks').set(after).where('id', '=', after.id).execute()
  await subscribe(trx, after)
  await announceWebhooks(trx, after.user_id, at)
  await recordAudit(trx, { caller, action: 'webhook.update', subject: after.id, at })
  return { before, after }
}

/** The columns that change. */
function toChanges(before: WebhookRow, input: WebhookChanges, now: number): Partial<WebhookRow> {
  const { url, events, active, skills, secret } = input
  const wanted: Partial<WebhookRow> = {
    ...(url === undefined ? {} : { url }),
    ...(events === undefined ? {} : { events: JSON.stringify(events) }),
    ...(skills === undefined ? {} : { skills: skills && JSON.stringify(skills) }),
    ...(secret === undefined ? {} : { secret }),
    ...(active === undefined ? {} : { active: active ? 1 : 0 }),
  }
  const isNew = ([column, value]: [string, unknown]) => value !== before[column as keyof WebhookRow]
  const changes = Object.fromEntries(Object.entries(wanted).filter(isNew)) as Partial<WebhookRow>
  const isRotated = changes.secret !== undefined
  return {
    ...changes,
    ...(isRotated ? { previous_secret: before.secret, previous_until: now + overlapMs } : {}),
    ...(changes.active === 1 ? { failed_run: 0 } : {}),
  }
}
