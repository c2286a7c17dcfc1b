import type { Kysely } from 'kysely'
import { findReadable } from '../catalogue/visibility.ts'
import type { Tables } from '../storage/tables.ts'
import type { DeliveryPayload } from './events.ts'

/** A delivery with the user who owns the webhook. */
export interface AddressedDelivery {
  readonly userId: string
  readonly delivery: DeliveryPayload
}

/**
 * The deliveries that their users may still read: since the event, the skill may have become private, or the user may
 * have lost access.
 */
export async function keepReadable<T extends AddressedDelivery>(
  db: Kysely<Tables>,
  deliveries: readonly T[],
): Promise<T[]> {
  const about = deliveries.map((one) => ({ one, skillId: toSkillId(one.delivery) }))
  const pairs = about.flatMap(({ one: { userId }, skillId }) => (skillId === undefined ? [] : [{ userId, skillId }]))
  const isReadable = await findReadable(db, pairs)
  return about
    .filter(({ one, skillId }) => skillId === undefined || isReadable(skillId, one.userId))
    .map(({ one }) => one)
}

/** The skill of an event; undefined for an event without one. */
function toSkillId({ body }: Partial<DeliveryPayload>): string | undefined {
  if (body === undefined) return undefined
  const { data } = JSON.parse(body) as { data?: { skill?: { id?: string } } }
  return data?.skill?.id
}
