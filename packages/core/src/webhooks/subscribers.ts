import { includesPlan, planNames, type EventName } from '@skillstead/protocol'
import { keepCompiled } from '../storage/compiled-query.ts'
import type { WriteTransaction } from '../storage/writer.ts'

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

/** Whether any webhook subscribes to an event. Usually none does, and this look-up is the only cost. */
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

/** Whether a webhook covers a skill. Events without a skill go to every subscriber. */
export function isAbout({ skills }: Pick<Subscriber, 'skills'>, fullName: string | undefined): boolean {
  if (skills === null || fullName === undefined) return true
  const owner = fullName.slice(0, fullName.indexOf('/'))
  // JSON escapes no character of these names, so the list need not be parsed.
  return skills.includes(`"${fullName}"`) || skills.includes(`"${owner}/*"`)
}
