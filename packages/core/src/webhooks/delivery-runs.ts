import { sql } from 'kysely'
import type { StorageContext } from '../storage/storage-context.ts'
import { recordAudit } from '../log/audit.ts'
import { systemCaller } from '../kernel/caller.ts'
import type { WebhooksContext } from './webhooks-context.ts'
import type { EndedJob } from '../outbox/jobs.ts'
import type { Dialect } from '../storage/dialect.ts'
import { isInList, toRowTable } from '../storage/list-query.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { announceWebhooks } from './webhooks.ts'
import { keepReadable } from './webhook-deliveries.ts'
import { webhookPlans } from './events.ts'

/** Default number of consecutive failed deliveries after which a webhook is disabled. */
const offAfterFailuresDefault = 20

/** A webhook's deliveries in a batch: whether any arrived, and how many failed after the last that arrived. */
interface DeliveryRun {
  readonly arrived: 0 | 1
  readonly failed: number
}

interface ChangedRun {
  readonly id: string
  readonly user_id: string
  readonly failed_run: number
}

/**
 * Counts the consecutive failed deliveries of each webhook, and disables webhooks that reach the limit. Called with
 * every completed delivery, in the transaction that completes it.
 */
export async function recordRuns(
  context: WebhooksContext,
  trx: WriteTransaction,
  ended: readonly EndedJob[],
): Promise<void> {
  const changed = await addRuns(context, trx, toRuns(await withoutDropped(trx, ended)))
  const { offAfterFailures = offAfterFailuresDefault } = context.webhooks
  if (offAfterFailures === 0) return
  const over = changed.filter(({ failed_run }) => failed_run >= offAfterFailures)
  if (over.length > 0) await switchOff(context, trx, over)
}

/** Ignores deliveries dropped because the webhook's owner may no longer read the skill: the receiver did not fail. */
async function withoutDropped(trx: WriteTransaction, ended: readonly EndedJob[]): Promise<readonly EndedJob[]> {
  const failed = ended.filter(({ state }) => state === 'failed')
  if (failed.length === 0) return ended
  const partitions = [...new Set(failed.map(({ partition }) => partition))]
  const rows = await trx.selectFrom('webhooks').select(['id', 'user_id']).where('id', 'in', partitions).execute()
  const users = new Map(rows.map(({ id, user_id }) => [id, user_id]))
  const addressed = failed.flatMap((job) => {
    const userId = users.get(job.partition)
    return userId === undefined ? [] : [{ job, userId, delivery: job.payload }]
  })
  const counted = new Set((await keepReadable(trx, addressed)).map(({ job }) => job))
  return ended.filter((job) => job.state === 'done' || counted.has(job))
}

function toRuns(ended: readonly EndedJob[]): Map<string, DeliveryRun> {
  const runs = new Map<string, DeliveryRun>()
  for (const { partition, state } of ended) {
    const { arrived, failed } = runs.get(partition) ?? { arrived: 0, failed: 0 }
    runs.set(partition, state === 'done' ? { arrived: 1, failed: 0 } : { arrived, failed: failed + 1 })
  }
  return runs
}

/**
 * Adds runs to the numbers of consecutive failures of their webhooks, and returns the webhooks whose number may have
 * changed. Uses one query for all webhooks, and writes nothing while deliveries succeed. Ignores failures that the
 * receiver did not cause: the webhook is disabled or deleted, its owner is disabled, or the owner's plan has no
 * webhooks.
 */
async function addRuns(
  { database: { dialect } }: StorageContext,
  trx: WriteTransaction,
  runs: ReadonlyMap<string, DeliveryRun>,
): Promise<readonly ChangedRun[]> {
  const rows = [...runs].map(([id, run]) => ({ id, ...run }))
  const table = toRowTable(dialect, { id: 'text', arrived: 'whole', failed: 'whole' }, rows)
  // Forces this join order for every planner: from the few completed jobs to their webhooks by key.
  const { rows: changed } = await sql<ChangedRun>`select w.id, w.user_id,
      case when r.arrived = 1 then r.failed else w.failed_run + r.failed end as failed_run
    from ${table} as r cross join webhooks as w cross join users as u
    where w.id = r.id and w.active = 1 and (r.failed > 0 or w.failed_run > 0)
      and u.id = w.user_id and u.disabled = 0 and u.plan in (${sql.join(webhookPlans)})`.execute(trx)
  if (changed.length > 0) await writeRuns(dialect, trx, changed)
  return changed
}

async function writeRuns(dialect: Dialect, trx: WriteTransaction, changed: readonly ChangedRun[]): Promise<void> {
  const rows = changed.map(({ id, failed_run }) => ({ id, failed_run }))
  await sql`update webhooks set failed_run = r.failed_run
    from ${toRowTable(dialect, { id: 'text', failed_run: 'whole' }, rows)} as r where webhooks.id = r.id`.execute(trx)
}

async function switchOff(
  { clock, database: { dialect } }: StorageContext,
  trx: WriteTransaction,
  webhooks: readonly ChangedRun[],
): Promise<void> {
  const at = clock.now()
  const ids = webhooks.map(({ id }) => id)
  await trx
    .updateTable('webhooks')
    .set({ active: 0, updated_at: at })
    .where(isInList(dialect, 'id', ids))
    .execute()
  await trx
    .deleteFrom('webhook_subscriptions')
    .where(isInList(dialect, 'webhook_id', ids))
    .execute()
  for (const { id, user_id, failed_run } of webhooks) {
    await announceWebhooks(trx, user_id, at)
    const data = { failures: failed_run }
    await recordAudit(trx, { caller: systemCaller, action: 'webhook.off', subject: id, at, data })
  }
}
