import { includesPlan, planNames, type EventName } from '@skillstead/protocol'
import { keepCompiled } from '../storage/compiled-query.ts'
import type { WriteTransaction } from '../storage/writer.ts'

/** A webhook that is to be told, with its user as a reader of skills. */
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

/** Whether anybody subscribes to an event. Most often nobody does, and this look-up is all that it costs. */
export async function hasSubscribers(trx: WriteTransaction, event: EventName): Promise<boolean> {
  return (await selectAny(trx, { event })).length > 0
}

const selectAny = keepCompiled((db, { event }: { event: EventName }) =>
  db.selectFrom('webhook_subscriptions').select('webhook_id').where('event', '=', event).limit(1),
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

/** Whether a webhook is about a skill; what is about no skill is everybody's. */
export function isAbout({ skills }: Pick<Subscriber, 'skills'>, fullName: string | undefined): boolean {
  if (skills === null || fullName === undefined) return true
  const owner = fullName.slice(0, fullName.indexOf('/'))
  // Names hold nothing that JSON writes in another way, so that the list need not be parsed.
  return skills.includes(`"${fullName}"`) || skills.includes(`"${owner}/*"`)
}
