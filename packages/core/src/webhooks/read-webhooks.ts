import { limits } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import type { StorageContext } from '../storage/storage-context.ts'
import type { AccountsContext } from '../accounts/accounts-context.ts'
import { requireAccount, type Caller } from '../kernel/caller.ts'
import type { Input } from '../kernel/operation-input.ts'
import { countRows } from '../storage/count-rows.ts'
import { readNewestRows } from '../outbox/rows.ts'
import { toOffset, toPage } from '../kernel/paging.ts'
import type { Tables } from '../storage/tables.ts'
import { getOwnWebhook, toDelivery, toWebhook } from './webhook-form.ts'
import { keepReadable } from './webhook-deliveries.ts'
import type { DeliveryPayload } from './events.ts'

/** GET /webhooks: the caller's webhooks, newest first. */
export async function listWebhooks(context: StorageContext, input: Input<'listWebhooks'>, caller: Caller) {
  const { userId } = requireAccount(caller)
  const total = await countWebhooks(context.database.read, userId)
  const rows = await context.database.read
    .selectFrom('webhooks')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('id', 'desc')
    .limit(input.limit)
    .offset(toOffset(input.page, input.limit))
    .execute()
  const last = await readNewestRows(
    context.database,
    rows.map(({ id }) => id),
  )
  return { webhooks: rows.map((row) => toWebhook(row, last.get(row.id))), ...toPage(total, input.page, input.limit) }
}

/** GET /webhooks/<id>: with its latest deliveries, newest first. */
export async function showWebhook(context: AccountsContext, { id }: Input<'getWebhook'>, caller: Caller) {
  const row = await getOwnWebhook(context.database.read, id, caller)
  const jobs = await context.outbox.list(row.id, limits.webhookDeliveriesShownMax)
  const addressed = jobs.map((job) => ({ job, userId: row.user_id, delivery: job.payload as DeliveryPayload }))
  const shown = (await keepReadable(context.database.read, addressed)).map(({ job }) => job)
  return { ...toWebhook(row, jobs[0]), deliveries: shown.map(toDelivery) }
}

/** The number of a user's webhooks. */
export async function countWebhooks(db: Pick<Kysely<Tables>, 'selectFrom'>, userId: string): Promise<number> {
  const count = await countRows(db.selectFrom('webhooks').where('user_id', '=', userId))
  return count
}
