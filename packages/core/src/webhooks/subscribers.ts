import { includesPlan, planNames, type EventName } from '@skillstead/protocol'
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
const webhookPlans = planNames.filter((plan) => includesPlan(plan, 'pro'))

/** The active webhooks that subscribe to an event: all, or those of one user. */
export async function findSubscribers(
  trx: WriteTransaction,
  event: EventName,
  userId: string | undefined,
): Promise<Subscriber[]> {
  return trx
    .selectFrom('webhook_subscriptions as s')
    .innerJoin('webhooks as w', 'w.id', 's.webhook_id')
    .innerJoin('users as u', 'u.id', 's.user_id')
    .select(['w.id as webhookId', 'w.url', 'w.skills', 'u.id as userId', 'u.username', 'u.role'])
    .where('s.event', '=', event)
    .where('u.disabled', '=', 0)
    .where('u.plan', 'in', webhookPlans)
    .$if(userId !== undefined, (query) => query.where('s.user_id', '=', userId!))
    .execute()
}

/** Whether a webhook is about a skill; what is about no skill is everybody's. */
export function isAbout({ skills }: Pick<Subscriber, 'skills'>, fullName: string | undefined): boolean {
  if (skills === null || fullName === undefined) return true
  const [owner] = fullName.split('/')
  const patterns = JSON.parse(skills) as string[]
  return patterns.some((pattern) => pattern === fullName || pattern === `${owner}/*`)
}
