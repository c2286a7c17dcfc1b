import { type EventData, type EventName, toTimestamp } from '@skillstead/protocol'
import type { Clock } from '../kernel/clock.ts'
import { newId } from '../kernel/ids.ts'
import type { Outbox, OutboxJob } from '../outbox/outbox.ts'
import { keepReaders, type Visible } from '../catalogue/visibility.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { hasSubscribers, isAbout, selectSubscribers, type Subscriber } from './subscribers.ts'

/** The outbox's topic for deliveries of events. */
export const deliveryTopic = 'webhook.delivery'
/** Its topic for deliveries that an owner asked for, which are tried once. */
export const pingTopic = 'webhook.ping'

/** Something that happened, on its way to those who subscribe to it. */
interface Happening<Name extends EventName = EventName> {
  readonly event: Name
  /** Made only where somebody subscribes. */
  readonly data: () => EventData<Name> | Promise<EventData<Name>>
  /** The user whose matter it is, who alone is told; where it is not said, everybody is who may see the skill. */
  readonly ownerId?: string
  /** Whether it is the administrators' matter alone. */
  readonly administrators?: boolean
  /** The skill that it is about, as it is now. */
  readonly skill?: Visible
}

/** Tells of what happens. */
export interface Events {
  /** Writes a delivery for each subscriber in the transaction of the cause: it is made if that commits, and only then. */
  emit<Name extends EventName>(trx: WriteTransaction, happening: Happening<Name>): Promise<void>
}

export function createEvents(outbox: Outbox, clock: Clock): Events {
  return {
    async emit(trx, { event, data, ownerId, administrators = false, skill }) {
      if (!(await hasSubscribers(trx, event))) return
      const all = await selectSubscribers(trx, event)
        .$if(ownerId !== undefined, (query) => query.where('s.user_id', '=', ownerId!))
        .$if(administrators, (query) => query.where('u.role', '=', 'admin'))
        .execute()
      const subscribers = all.filter((each) => isAbout(each, skill?.full_name))
      const told = skill && ownerId === undefined ? await keepReaders(trx, skill, subscribers) : subscribers
      if (told.length === 0) return
      await outbox.enqueue(trx, ...toDeliveries(told, event, await data(), clock.now()))
    },
  }
}

/** A row of the outbox for each subscriber, all with one event. */
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

/** The host of an address. One that no longer parses is the delivery's trouble, and must not undo the cause. */
export function toHost(url: string): string {
  return URL.parse(url)?.host ?? ''
}

/** What a row of the outbox holds for a delivery. */
export interface DeliveryPayload extends Record<string, unknown> {
  readonly webhookId: string
  readonly eventId: string
  readonly event: string
  /** The envelope, byte for byte as it is signed and sent. */
  readonly body: string
}
