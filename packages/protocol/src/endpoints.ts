import type { Api, Endpoints } from './endpoint.ts'
import { accountEndpoints } from './endpoints/accounts.ts'
import { agentEndpoints } from './endpoints/agents.ts'
import { dmcaEndpoints } from './endpoints/dmca.ts'
import { externalEndpoints } from './endpoints/external.ts'
import { mirrorEndpoints } from './endpoints/mirrors.ts'
import { moderationEndpoints } from './endpoints/moderation.ts'
import { operatorEndpoints } from './endpoints/operator.ts'
import { ownershipEndpoints } from './endpoints/ownership.ts'
import { packEndpoints } from './endpoints/packs.ts'
import { reputationEndpoints } from './endpoints/reputation.ts'
import { requestEndpoints } from './endpoints/requests.ts'
import { reviewEndpoints } from './endpoints/reviews.ts'
import { securityEndpoints } from './endpoints/security.ts'
import { skillEndpoints } from './endpoints/skills.ts'
import { syncEndpoints } from './endpoints/sync.ts'
import { webhookEndpoints } from './endpoints/webhooks.ts'

/** All operations under `/api/v1`: the source of the routes, the validation, the OpenAPI document and both clients. */
export const endpoints = {
  ...skillEndpoints,
  ...ownershipEndpoints,
  ...reviewEndpoints,
  ...moderationEndpoints,
  ...securityEndpoints,
  ...packEndpoints,
  ...agentEndpoints,
  ...requestEndpoints,
  ...accountEndpoints,
  ...reputationEndpoints,
  ...dmcaEndpoints,
  ...externalEndpoints,
  ...webhookEndpoints,
  ...syncEndpoints,
  ...operatorEndpoints,
  ...mirrorEndpoints,
} as const satisfies Endpoints

export type EndpointName = keyof typeof endpoints

/** The registry as functions, over HTTP or in-process. */
export type RegistryApi = Api<typeof endpoints>
