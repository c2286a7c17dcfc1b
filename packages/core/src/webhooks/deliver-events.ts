import { includesPlan, pingEvent, RegistryError } from '@skillstead/protocol'
import DataLoader from 'dataloader'
import type { StorageContext } from '../storage/storage-context.ts'
import type { AccountsContext } from '../accounts/accounts-context.ts'
import { redirectStatuses } from '../http/http-client.ts'
import { minuteMs } from '../kernel/clock.ts'
import { AttemptError, type EndedJob } from '../outbox/jobs.ts'
import { isInList } from '../storage/list-query.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { recordRuns } from './delivery-runs.ts'
import { type DeliveryPayload, deliveryTopic, pingTopic } from './events.ts'
import { signService, signStandard } from './signatures.ts'
import { keepReadable } from './webhook-deliveries.ts'
import type { WebhooksContext } from './webhooks-context.ts'

/** Delays before the second and each further attempt (docs/api.md#deliveries). */
const retryDelaysMs = [minuteMs, 5 * minuteMs, 30 * minuteMs, 120 * minuteMs]
/** Timeout of a receiver's response (docs/api.md#deliveries). */
const deadlineMs = 5000

/** Handles delivery jobs from the outbox. */
export function handleDeliveries(context: WebhooksContext): void {
  // Loads the webhook of a delivery, and whether the owner of the webhook may still read the skill. Attempts that begin
  // in the same turn of the event loop share the queries. Nothing is cached, because rights and webhooks may change.
  const targets = new DataLoader<DeliveryPayload, DeliveryTarget | null>(
    (deliveries) => loadTargets(context, deliveries),
    {
      cache: false,
      batchScheduleFn: (load) => void setImmediate(load),
    },
  )
  const handle = async (delivery: DeliveryPayload, _attempt: number, id: string) => {
    const target = await targets.load(delivery).catch(hideInternalError)
    return deliver(context, id, delivery, requireOpenTarget(target, delivery))
  }
  const afterwards = (trx: WriteTransaction, ended: readonly EndedJob[]) => recordRuns(context, trx, ended)
  context.outbox.handle(deliveryTopic, { retryDelaysMs, handle, afterwards })
  context.outbox.handle(pingTopic, { retryDelaysMs: [], handle })
}

type DeliveryTarget = Awaited<ReturnType<typeof readTargets>>[number] & { readonly mayRead: boolean }

async function loadTargets(context: StorageContext, deliveries: readonly DeliveryPayload[]) {
  const rows = await readTargets(context, [...new Set(deliveries.map(({ webhookId }) => webhookId))])
  const byId = new Map(rows.map((row) => [row.id, row]))
  const addressed = deliveries.flatMap((delivery) => {
    const userId = byId.get(delivery.webhookId)?.user_id
    return userId === undefined ? [] : [{ userId, delivery }]
  })
  const kept = new Set((await keepReadable(context.database.read, addressed)).map(({ delivery }) => delivery))
  return deliveries.map((delivery) => {
    const row = byId.get(delivery.webhookId)
    return row ? { ...row, mayRead: kept.has(delivery) } : null
  })
}

async function readTargets({ database }: StorageContext, ids: readonly string[]) {
  return database.read
    .selectFrom('webhooks as w')
    .innerJoin('users as u', 'u.id', 'w.user_id')
    .select([
      'w.id',
      'w.url',
      'w.secret',
      'w.previous_secret',
      'w.previous_until',
      'w.active',
      'w.user_id',
      'u.plan',
      'u.disabled',
    ])
    .where(isInList(database.dialect, 'w.id', ids))
    .execute()
}

function refuseDelivery(why: string): AttemptError {
  return new AttemptError(why, { isFinal: true })
}

/** The owner of a webhook sees why an attempt failed; internal errors must not be shown. */
function hideInternalError(cause: unknown): never {
  throw new AttemptError('The registry could not prepare the delivery because of an internal error.', { cause })
}

/** Sends a delivery once. Throws an {@link AttemptError} unless the receiver responds with 2xx in time. */
async function deliver(context: AccountsContext, id: string, delivery: DeliveryPayload, target: DeliveryTarget) {
  const { url, ...signing } = target
  const now = context.clock.now()
  const statusCode = await postDelivery(context, url, delivery.body, toDeliveryHeaders(id, delivery, signing, now))
  if (statusCode >= 200 && statusCode < 300) return { statusCode }
  const message = redirectStatuses.has(statusCode)
    ? `a redirect (${statusCode}), which is not followed. Set the webhook to the final URL.`
    : `${statusCode}; a response of 2xx is needed.`
  throw new AttemptError(`The receiver answered with ${message}`, { statusCode })
}

/**
 * Returns the target of a delivery that may be sent. Otherwise throws an error that prevents retries, for example for a
 * deleted webhook. A ping is also sent to a disabled webhook.
 */
function requireOpenTarget(target: DeliveryTarget | null, { event }: DeliveryPayload): DeliveryTarget {
  if (!target) throw refuseDelivery('The webhook was deleted.')
  if (!target.mayRead) throw refuseDelivery('The owner of the webhook may no longer read the skill.')
  if (target.disabled === 1) throw refuseDelivery("The account of the webhook's owner is disabled.")
  if (!includesPlan(target.plan, 'pro'))
    throw refuseDelivery("The plan of the webhook's owner does not include webhooks.")
  if (target.active === 0 && event !== pingEvent) throw refuseDelivery('The webhook is disabled.')
  return target
}

async function postDelivery(
  context: AccountsContext,
  url: string,
  body: string,
  headers: Record<string, string>,
): Promise<number> {
  try {
    return await context.outgoing.post(url, { headers, body, timeoutMs: deadlineMs })
  } catch (error) {
    if (!(error instanceof RegistryError) || error.code === 'shutting_down') throw error
    throw new AttemptError(error.message, { cause: error })
  }
}

function toDeliveryHeaders(
  deliveryId: string,
  { event, eventId, body }: DeliveryPayload,
  { secret, previous_secret, previous_until }: Pick<DeliveryTarget, 'secret' | 'previous_secret' | 'previous_until'>,
  now: number,
): Record<string, string> {
  const timestamp = Math.floor(now / 1000)
  const isOverlap = previous_secret !== null && now < previous_until!
  const secrets = isOverlap ? [secret, previous_secret] : [secret]
  return {
    'content-type': 'application/json; charset=utf-8',
    'user-agent': 'skillstead',
    'x-service-event': event,
    'x-service-delivery': deliveryId,
    'x-service-signature': signService(secret, body),
    'webhook-id': eventId,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': secrets.map((each) => signStandard(each, { id: eventId, timestamp, body })).join(' '),
  }
}
