import type { Api, Endpoint } from './endpoint.ts'
import { accountEndpoints } from './endpoints/accounts-endpoints.ts'
import { agentEndpoints } from './endpoints/agents-endpoints.ts'
import { dmcaEndpoints } from './endpoints/dmca-endpoints.ts'
import { externalEndpoints } from './endpoints/external-endpoints.ts'
import { mirrorEndpoints } from './endpoints/mirrors-endpoints.ts'
import { moderationEndpoints } from './endpoints/moderation-endpoints.ts'
import { operatorEndpoints } from './endpoints/operator-endpoints.ts'
import { organisationsEndpoints } from './endpoints/organisations-endpoints.ts'
import { ownershipEndpoints } from './endpoints/ownership-endpoints.ts'
import { packEndpoints } from './endpoints/packs-endpoints.ts'
import { reputationEndpoints } from './endpoints/reputation-endpoints.ts'
import { requestEndpoints } from './endpoints/requests-endpoints.ts'
import { reviewEndpoints } from './endpoints/reviews-endpoints.ts'
import { securityEndpoints } from './endpoints/security-endpoints.ts'
import { skillEndpoints } from './endpoints/skills-endpoints.ts'
import { syncEndpoints } from './endpoints/sync-endpoints.ts'
import { evaluationEndpoints } from './endpoints/evaluations-endpoints.ts'
import type { EndpointName } from './wire.ts'
import { webhookEndpoints } from './endpoints/webhooks-endpoints.ts'

/** All operations under `/api/v1`: the source of the routes, the validation, the OpenAPI document and both clients. */
export const endpoints = {
  ...skillEndpoints,
  ...ownershipEndpoints,
  ...evaluationEndpoints,
  ...reviewEndpoints,
  ...moderationEndpoints,
  ...securityEndpoints,
  ...packEndpoints,
  ...agentEndpoints,
  ...requestEndpoints,
  ...accountEndpoints,
  ...organisationsEndpoints,
  ...reputationEndpoints,
  ...dmcaEndpoints,
  ...externalEndpoints,
  ...webhookEndpoints,
  ...syncEndpoints,
  ...operatorEndpoints,
  ...mirrorEndpoints,
} as const satisfies Record<EndpointName, Endpoint>

export type { EndpointName }

/** The registry as functions, in-process or over HTTP. */
export type RegistryApi = Api<typeof endpoints>
