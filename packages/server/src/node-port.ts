import type { NodePort } from '@skillstead/core/internal'
import { readProgramVersion } from '@skillstead/gateways'
import { planNames } from '@skillstead/protocol'
import type { NodeParts } from './gate.ts'
import { defaultRates } from './quotas.ts'

/** Data for administrators about the node that serves their registry. */
export function toNodePort({ quotas, metrics }: Pick<NodeParts, 'quotas' | 'metrics'>): NodePort {
  const rates = quotas.rates ?? defaultRates()
  return {
    version: readProgramVersion(),
    rates: {
      on: quotas.rates !== undefined,
      anonymous: rates.anonymous,
      plans: planNames.map((plan) => ({ plan, requestsPerMinute: rates[plan] })),
    },
    limited: () => metrics.limitedTotal(),
  }
}
