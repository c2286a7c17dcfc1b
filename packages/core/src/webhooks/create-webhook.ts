import { randomBytes } from 'node:crypto'
import { RegistryError, limits, type EventName, type Webhook } from '@skillstead/protocol'
import { recordAudit } from '../log/audit.ts'
import { requireAccount, type Caller } from '../kernel/caller.ts'
import type { WebhooksContext } from './webhooks-context.ts'
import { newId } from '../kernel/ids.ts'
import type { WebhookRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { standardPrefix } from './sign-delivery.ts'
import { countWebhooks } from './read-webhooks.ts'
import { announceWebhooks, subscribe } from './subscribe-webhook.ts'
import { toWebhook } from './webhook-form.ts'

/** 24 to 64 bytes are recommended (Standard Webhooks, "Signature scheme"); 30 need no base64 padding. */
const secretBytes = 30

interface WebhookInput {
  url: string
  events: EventName[]
  skills?: string[] | null
  secret?: string
}

/**
 * POST /webhooks: a secret that the server generates is shown only in this response. Throws `invalid_request` that
 * names `url` for an address that is not public, `conflict` if the user has the maximum number of webhooks.
 */
export async function createWebhook(
  context: WebhooksContext,
  input: WebhookInput,
  caller: Caller,
): Promise<Webhook & { secret?: string }> {
  const { userId } = requireAccount(caller)
  await context.outgoing.requirePublic(input.url, 'url')
  const now = context.clock.now()
  const made = input.secret === undefined ? { secret: makeSecret() } : {}
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
    await refuseTooMany(trx, userId)
    await trx.insertInto('webhooks').values(row).execute()
    await subscribe(trx, row)
    await announceWebhooks(trx, userId, now)
    await recordAudit(trx, { caller, action: 'webhook.create', subject: row.id, at: now })
  })
  return { ...toWebhook(row, undefined), ...made }
}

function makeSecret(): string {
  return `${standardPrefix}${randomBytes(secretBytes).toString('base64')}`
}

async function refuseTooMany(trx: WriteTransaction, userId: string): Promise<void> {
  const count = await countWebhooks(trx, userId)
  if (count >= limits.webhooksPerUserMax) {
    throw new RegistryError('conflict', `You have ${count} webhooks, which is the maximum. Delete one first.`)
  }
}
