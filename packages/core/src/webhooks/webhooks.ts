import { randomBytes } from 'node:crypto'
import { limits, RegistryError, type Webhook, entriesOf } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import type { AccountsContext } from '../accounts/accounts-context.ts'
import type { StorageContext } from '../storage/storage-context.ts'
import { type Caller, requireAccount } from '../kernel/caller.ts'
import { newId } from '../kernel/ids.ts'
import type { Input } from '../kernel/operation-input.ts'
import { appendChange } from '../log/append-change.ts'
import { recordAudit } from '../log/audit.ts'
import { readNewestRows } from '../outbox/rows.ts'
import { countRows } from '../storage/count-rows.ts'
import { readPage } from '../storage/read-page.ts'
import { parseJson, type Tables, type WebhookRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { toReceiverHost } from './events.ts'
import { standardPrefix } from './signatures.ts'
import { keepReadable } from './webhook-deliveries.ts'
import { getOwnWebhook, toDelivery, toWebhook } from './webhook-form.ts'

/** GET /webhooks: the caller's webhooks, newest first. */
export async function listWebhooks({ database }: StorageContext, input: Input<'listWebhooks'>, caller: Caller) {
  const own = database.read.selectFrom('webhooks').where('user_id', '=', requireAccount(caller).userId)
  const { rows, paging } = await readPage(own, own.selectAll().orderBy('id', 'desc'), input)
  const ids = rows.map(({ id }) => id)
  const last = await readNewestRows(database, ids)
  return { webhooks: rows.map((row) => toWebhook(row, last.get(row.id))), ...paging }
}

/** GET /webhooks/<id>: with its latest deliveries, newest first. */
export async function showWebhook(context: AccountsContext, { id }: Input<'getWebhook'>, caller: Caller) {
  const row = await getOwnWebhook(context.database.read, id, caller)
  const jobs = await context.outbox.list(row.id, limits.webhookDeliveriesShownMax)
  const addressed = jobs.map((job) => ({ job, userId: row.user_id, delivery: job.payload }))
  const shown = (await keepReadable(context.database.read, addressed)).map(({ job }) => job)
  return { ...toWebhook(row, jobs[0]), deliveries: shown.map(toDelivery) }
}

/**
 * Bytes of a generated secret: 24 to 64 are recommended (Standard Webhooks, "Signature scheme"); 30 need no base64
 * padding.
 */
const secretBytes = 30

/**
 * POST /webhooks: a secret that the server generates is shown only in this response. Throws `invalid_request` that
 * names `url` for an address that is not public, `conflict` if the user has the maximum number of webhooks.
 */
export async function createWebhook(
  context: AccountsContext,
  input: Input<'createWebhook'>,
  caller: Caller,
): Promise<Webhook & { secret?: string }> {
  const { userId } = requireAccount(caller)
  await context.outgoing.requirePublic(input.url, 'url')
  const now = context.clock.now()
  const made =
    input.secret === undefined ? { secret: `${standardPrefix}${randomBytes(secretBytes).toString('base64')}` } : {}
  const row: WebhookRow = {
    id: newId(),
    user_id: userId,
    url: input.url,
    events: JSON.stringify(input.events),
    skills: input.skills ? JSON.stringify(input.skills) : null,
    secret: input.secret ?? made.secret!,
    previous_secret: null,
    previous_until: null,
    active: 1,
    failed_run: 0,
    created_at: now,
    updated_at: now,
  }
  await context.database.writer.write(async (trx) => {
    await refuseTooManyWebhooks(trx, userId)
    await trx.insertInto('webhooks').values(row).execute()
    await putSubscriptions(trx, row)
    await announceWebhooks(trx, userId, now)
    await recordAudit(trx, { caller, action: 'webhook.create', subject: row.id, at: now })
  })
  return { ...toWebhook(row, undefined), ...made }
}

async function refuseTooManyWebhooks(trx: WriteTransaction, userId: string): Promise<void> {
  const count = await countWebhooks(trx, userId)
  if (count >= limits.webhooksPerUserMax) {
    throw new RegistryError('conflict', `You have ${count} webhooks, which is the maximum. Delete one first.`)
  }
}

/** Time for which deliveries are also signed with the previous secret. */
const overlapMs = 24 * 60 * 60 * 1000

/**
 * PATCH /webhooks/<id>: omitted fields stay. Throws `invalid_request` as {@link createWebhook} does, and `not_found`.
 */
export async function updateWebhook(
  context: AccountsContext,
  input: Input<'updateWebhook'>,
  caller: Caller,
): Promise<Webhook> {
  // Check the owner first, so that no DNS query is made for another user's webhook.
  await getOwnWebhook(context.database.read, input.id, caller)
  if (input.url !== undefined) await context.outgoing.requirePublic(input.url, 'url')
  const { before, after } = await context.database.writer.write((trx) => storeChanges(context, trx, input, caller))
  // Pending deliveries use the new URL in any case. `redirect` moves them to the queue of the new host, with the limits
  // of that host.
  if (after.url !== before.url) await context.outbox.redirect(after.id, toReceiverHost(after.url))
  return toWebhook(after, (await readNewestRows(context.database, [after.id])).get(after.id))
}

async function storeChanges(
  context: StorageContext,
  trx: WriteTransaction,
  input: Input<'updateWebhook'>,
  caller: Caller,
) {
  const before = await getOwnWebhook(trx, input.id, caller)
  const at = context.clock.now()
  const changes = toChangedColumns(before, input, at)
  if (Object.keys(changes).length === 0) return { before, after: before }
  const after: WebhookRow = { ...before, ...changes, updated_at: at }
  await trx.updateTable('webhooks').set(after).where('id', '=', after.id).execute()
  await putSubscriptions(trx, after)
  await announceWebhooks(trx, after.user_id, at)
  await recordAudit(trx, { caller, action: 'webhook.update', subject: after.id, at })
  return { before, after }
}

/** The columns that the request changes, with their new values. */
function toChangedColumns(before: WebhookRow, input: Input<'updateWebhook'>, now: number): Partial<WebhookRow> {
  const { url, events, active, skills, secret } = input
  const wanted: Partial<WebhookRow> = {
    ...(url === undefined ? {} : { url }),
    ...(events === undefined ? {} : { events: JSON.stringify(events) }),
    ...(skills === undefined ? {} : { skills: skills && JSON.stringify(skills) }),
    ...(secret === undefined ? {} : { secret }),
    ...(active === undefined ? {} : { active: active ? 1 : 0 }),
  }
  const changed = entriesOf(wanted).filter(([column, value]) => value !== before[column])
  const changes: Partial<WebhookRow> = Object.fromEntries(changed)
  const isRotated = changes.secret !== undefined
  return {
    ...changes,
    ...(isRotated ? { previous_secret: before.secret, previous_until: now + overlapMs } : {}),
    ...(changes.active === 1 ? { failed_run: 0 } : {}),
  }
}

/** DELETE /webhooks/<id>: deletes a webhook, whose pending deliveries fail when they become due. */
export async function deleteWebhook(
  context: StorageContext,
  input: Input<'deleteWebhook'>,
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

/** Stores the subscriptions of an active webhook; removes those of a disabled one. */
async function putSubscriptions(
  trx: WriteTransaction,
  { id, user_id, events, active }: Pick<WebhookRow, 'id' | 'user_id' | 'events' | 'active'>,
): Promise<void> {
  await trx.deleteFrom('webhook_subscriptions').where('webhook_id', '=', id).execute()
  if (active === 0) return
  const rows = parseJson(events).map((event) => ({ event, user_id, webhook_id: id }))
  await trx.insertInto('webhook_subscriptions').values(rows).execute()
}

/** Notifies every node that a user's webhooks changed, since nodes cache subscriptions. */
export async function announceWebhooks(trx: WriteTransaction, userId: string, at: number): Promise<void> {
  await appendChange(trx, { kind: 'webhooks', subject: userId, at, entries: [] })
}

/** The number of a user's webhooks. */
export async function countWebhooks(db: Pick<Kysely<Tables>, 'selectFrom'>, userId: string): Promise<number> {
  return countRows(db.selectFrom('webhooks').where('user_id', '=', userId))
}
