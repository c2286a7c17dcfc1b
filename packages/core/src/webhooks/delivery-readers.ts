import type { Kysely } from 'kysely'
import { findReadable } from '../catalogue/visibility.ts'
import type { Tables } from '../storage/tables.ts'
import type { DeliveryPayload } from './events.ts'

/** A delivery, and the user whose webhook it is for. */
export interface AddressedDelivery {
  readonly userId: string
  readonly delivery: DeliveryPayload
}

/**
 * Of some deliveries those that their users may still read. A delivery is about a skill that may have turned private, or
 * that its user may have lost the role in, since the event.
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

/** The skill that an event is about; undefined for one about none. */
function toSkillId({ body }: Partial<DeliveryPayload>): string | undefined {
  if (body === undefined) return undefined
  const { data } = JSON.parse(body) as { data?: { skill?: { id?: string } } }
  return data?.skill?.id
}
