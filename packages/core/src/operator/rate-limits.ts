import { planNames, plans, type RateLimits } from '@skillstead/protocol'
import type { OperatorContext } from './operator-context.ts'

/** GET /operator/rate-limits: the limits of the node, or the defaults if no node serves the registry. */
export async function showRateLimits({ node: { port } }: OperatorContext): Promise<RateLimits> {
  if (port) return { ...port.rates, limitedTotal: await port.limited() }
  const byPlan = planNames.map((plan) => ({ plan, requestsPerMinute: plans[plan].requestsPerMinute }))
  return { on: false, anonymous: plans.free.requestsPerMinute, plans: byPlan, limitedTotal: null }
}
