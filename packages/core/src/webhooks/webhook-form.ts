import { type Delivery, RegistryError, toTimestamp, type Webhook } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import { type Caller, requireAccount } from '../kernel/caller.ts'
import type { JobState, JobView } from '../outbox/jobs.ts'
import { parseJson, type Tables, type WebhookRow } from '../storage/tables.ts'
import type { DeliveryPayload } from './events.ts'

/** The fields of a delivery that describe its outcome. */
type DeliveryOutcome = Pick<JobView, 'state' | 'attempts' | 'createdAt'>

const statuses: Record<JobState, Delivery['status']> = { pending: 'pending', done: 'delivered', failed: 'failed' }

/** A webhook as its owner sees it, with the outcome of its latest delivery and without the secret. */
export function toWebhook(row: WebhookRow, last: DeliveryOutcome | undefined): Webhook {
  return {
    id: row.id,
    url: row.url,
    events: parseJson(row.events),
    skills: row.skills === null ? null : parseJson(row.skills),
    active: row.active === 1,
    createdAt: toTimestamp(row.created_at),
    updatedAt: toTimestamp(row.updated_at),
    lastDelivery: last
      ? { status: statuses[last.state], at: toTimestamp(last.attempts.at(-1)?.at ?? last.createdAt) }
      : null,
  }
}

/** A row of the outbox as the owner of the webhook sees it. */
export function toDelivery({ id, payload, state, attempts, dueAt, createdAt }: JobView): Delivery {
  const { eventId, event } = payload as DeliveryPayload
  return {
    id,
    eventId,
    event,
    status: statuses[state],
    attempts: attempts.map(({ number, at, statusCode, durationMs, error }) => ({
      number,
      at: toTimestamp(at),
      statusCode,
      durationMs,
      error,
    })),
    nextAttemptAt: state === 'pending' ? toTimestamp(dueAt) : null,
    createdAt: toTimestamp(createdAt),
  }
}

/** A webhook of the caller. Throws `not_found`, even to administrators for another user's webhook. */
export async function getOwnWebhook(
  db: Pick<Kysely<Tables>, 'selectFrom'>,
  id: string,
  caller: Caller,
): Promise<WebhookRow> {
  const { userId } = requireAccount(caller)
  const row = await db
    .selectFrom('webhooks')
    .selectAll()
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  if (!row) throw new RegistryError('not_found', 'You have no webhook with this id.')
  return row
}
