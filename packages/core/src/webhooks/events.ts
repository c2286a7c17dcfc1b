import { type Delivery, type EventName, includesPlan, planNames, toTimestamp, toOwnerName } from '@skillstead/protocol'
import type { ExpressionBuilder } from 'kysely'
import type { Events } from '../catalogue/context/ports.ts'
import { keepReaders } from '../visibility/decisions.ts'
import { selectMembersWith } from '../visibility/rights.ts'
import type { Clock } from '../kernel/clock.ts'
import { newId } from '../kernel/ids.ts'
import type { OutboxJob, Topic } from '../outbox/jobs.ts'
import type { Outbox } from '../outbox/outbox.ts'
import { compileQuery, type Param } from '../storage/compiled-query.ts'
import type { Tables } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import type { MailNotices } from './mail-notices.ts'

/** The outbox topic of event deliveries. */
export const deliveryTopic: Topic<DeliveryPayload> = 'webhook.delivery'
/** The outbox topic of pings, which are tried once. */
export const pingTopic: Topic<DeliveryPayload> = 'webhook.ping'

/** Announces events to webhooks, and with `mail` also by e-mail. */
export function createEvents(outbox: Outbox, clock: Clock, mail?: MailNotices): Events {
  return {
    async emit(trx, emitted) {
      const { event, data, ownerId, userIds, administrators = false, skill } = emitted
      await mail?.announce(trx, emitted)
      if (!(await hasSubscribers(trx, event))) return
      const named = await userIds?.()
      if (named?.length === 0) return
      const all = await selectSubscribers(trx, event)
        .$if(named !== undefined, (query) => query.where('s.user_id', 'in', named!))
        .$if(ownerId !== undefined, (query) => query.where(isOwnerOrManager(ownerId!)))
        .$if(administrators, (query) => query.where('u.role', '=', 'admin'))
        .execute()
      const subscribers = all.filter((each) => isAbout(each, skill?.full_name))
      const receivers = skill && ownerId === undefined ? await keepReaders(trx, skill, subscribers) : subscribers
      if (receivers.length === 0) return
      await outbox.enqueue(trx, ...toDeliveries(receivers, event, await data(), clock.now()))
    },
  }
}

/** Whether a subscriber is the owner with this id, or has the right to manage the organisation with this id. */
function isOwnerOrManager(ownerId: string) {
  return (eb: ExpressionBuilder<Tables & { s: Tables['webhook_subscriptions'] }, 's'>) =>
    eb.or([eb('s.user_id', '=', ownerId), eb('s.user_id', 'in', selectMembersWith('manage', ownerId))])
}

/** One outbox row per subscriber, all with the same event. */
export function toDeliveries(
  subscribers: readonly Pick<Subscriber, 'webhookId' | 'url'>[],
  event: Delivery['event'],
  data: Record<string, unknown>,
  at: number,
): OutboxJob<DeliveryPayload>[] {
  const eventId = newId()
  const body = JSON.stringify({ id: eventId, event, timestamp: toTimestamp(at), data })
  return subscribers.map(({ webhookId, url }) => ({
    topic: deliveryTopic,
    partition: webhookId,
    host: toReceiverHost(url),
    payload: { webhookId, eventId, event, body },
  }))
}

/** The host of a URL. A URL that no longer parses must fail the delivery, not the change that caused the event. */
export function toReceiverHost(url: string): string {
  return URL.parse(url)?.host ?? ''
}

/** The payload of a delivery's outbox row. */
export interface DeliveryPayload extends Record<string, unknown> {
  readonly webhookId: string
  readonly eventId: string
  readonly event: Delivery['event']
  /** The envelope, exactly as signed and sent. */
  readonly body: string
}

/** A webhook that receives an event, with its user as a reader of skills. */
export interface Subscriber {
  readonly webhookId: string
  readonly url: string
  readonly skills: string | null
  readonly userId: string
  readonly username: string
  readonly role: 'user' | 'admin'
}

/** The plans that include webhooks. */
export const webhookPlans = planNames.filter((plan) => includesPlan(plan, 'pro'))

/** Whether any webhook subscribes to an event. Usually there is none, and an event costs only this look-up. */
export async function hasSubscribers(trx: WriteTransaction, event: EventName): Promise<boolean> {
  return (await selectAny(trx, { event })).length > 0
}

const selectAny = compileQuery((db, param: Param<{ event: EventName }>) =>
  db.selectFrom('webhook_subscriptions').select('webhook_id').where('event', '=', param('event')).limit(1),
)

/** The active webhooks that subscribe to an event, of users who may have webhooks. `s` is the subscription. */
export function selectSubscribers(trx: WriteTransaction, event: EventName) {
  return trx
    .selectFrom('webhook_subscriptions as s')
    .innerJoin('webhooks as w', 'w.id', 's.webhook_id')
    .innerJoin('users as u', 'u.id', 's.user_id')
    .select(['w.id as webhookId', 'w.url', 'w.skills', 'u.id as userId', 'u.username', 'u.role'])
    .where('s.event', '=', event)
    .where('u.disabled', '=', 0)
    .where('u.plan', 'in', webhookPlans)
}

/** Whether a webhook subscribes to events of a skill. Events without a skill go to every subscriber. */
export function isAbout({ skills }: Pick<Subscriber, 'skills'>, fullName: string | undefined): boolean {
  if (skills === null || fullName === undefined) return true
  const owner = toOwnerName(fullName)
  // JSON escapes no character of the names of skills and owners, so the list need not be parsed.
  return skills.includes(`"${fullName}"`) || skills.includes(`"${owner}/*"`)
}
