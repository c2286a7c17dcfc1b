import { keysOf } from './typed-names.ts'

/** The plans, lowest first, with their requests per minute (docs/api.md#limits). */
export const plans = {
  free: { requestsPerMinute: 60 },
  pro: { requestsPerMinute: 300 },
  team: { requestsPerMinute: 600 },
  enterprise: { requestsPerMinute: 6000 },
} as const

/** The requests per minute of all callers without a key at one IP address. */
export const guestRequestsPerMinute = 600

/** The name of a plan. */
export type PlanName = keyof typeof plans

/** The names of the plans, lowest first. */
export const planNames = keysOf(plans)

/** Whether `plan` includes everything in the plan `required`. */
export function includesPlan(plan: PlanName, required: PlanName): boolean {
  return planNames.indexOf(plan) >= planNames.indexOf(required)
}
