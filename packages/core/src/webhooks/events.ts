import { toTimestamp } from '@skillstead/protocol'
import type { Clock } from '../kernel/clock.ts'
import { newId } from '../kernel/ids.ts'
import type { Events } from '../catalogue/catalogue-context.ts'
import type { Outbox, OutboxJob } from '../outbox/outbox.ts'
import { keepReaders } from '../catalogue/visibility.ts'
import { hasSubscribers, isAbout, selectSubscribers, type Subscriber } from './subscribers.ts'

/** The outbox topic of event deliveries. */
export const deliveryTopic = 'webhook.delivery'
/** The outbox topic of pings, which are tried once. */
export const pingTopic = 'webhook.ping'

export function createEvents(outbox: Outbox, clock: Clock): Events {
  return {
    async emit(trx, { event, data, ownerId, administrators = false, skill }) {
      if (!(await hasSubscribers(trx, event))) return
      const all = await selectSubscribers(trx, event)
        .$if(ownerId !== undefined, (query) => query.where('s.user_id', '=', ownerId!))
        .$if(administrators, (query) => query.where('u.role', '=', 'admin'))
        .execute()
      const subscribers = all.filter((each) => isAbout(each, skill?.full_name))
      const receivers = skill && ownerId === undefined ? await keepReaders(trx, skill, subscribers) : subscribers
      if (receivers.length === 0) return
      await outbox.enqueue(trx, ...toDeliveries(receivers, event, await data(), clock.now()))
    },
  }
}

/** One outbox row per subscriber, all with the same event. */
export function toDeliveries(
  subscribers: readonly Pick<Subscriber, 'webhookId' | 'url'>[],
  event: string,
  data: Record<string, unknown>,
  at: number,
): OutboxJob[] {
  const eventId = newId()
  const body = JSON.stringify({ id: eventId, event, timestamp: toTimestamp(at), data })
  return subscribers.map(({ webhookId, url }) => ({
    topic: deliveryTopic,
    lane: webhookId,
    host: toHost(url),
    payload: { webhookId, eventId, event, body } satisfies DeliveryPayload,
  }))
}

/** The host of a URL. A URL that no longer parses must fail the delivery, not the change that caused the event. */
export function toHost(url: string): string {
  return URL.parse(url)?.host ?? ''
}

/** The payload of a delivery's outbox row. */
export interface DeliveryPayload extends Record<string, unknown> {
  readonly webhookId: string
  readonly eventId: string
  readonly event: string
  /** The envelope, exactly as signed and sent. */
  readonly body: string
}
