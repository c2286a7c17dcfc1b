import type { Api, Endpoints } from './endpoint.ts'
import { accountEndpoints } from './endpoints/accounts.ts'
import { communityEndpoints } from './endpoints/community.ts'
import { operatingEndpoints } from './endpoints/operating.ts'
import { ownershipEndpoints } from './endpoints/ownership.ts'
import { packEndpoints } from './endpoints/packs.ts'
import { skillEndpoints } from './endpoints/skills.ts'
import { syncEndpoints } from './endpoints/sync.ts'

/** The whole interface under `/api/v1`: the routes, the validation, the OpenAPI document and both clients come from here. */
export const endpoints = {
  ...skillEndpoints,
  ...ownershipEndpoints,
  ...communityEndpoints,
  ...packEndpoints,
  ...accountEndpoints,
  ...operatingEndpoints,
  ...syncEndpoints,
} as const satisfies Endpoints

export type EndpointName = keyof typeof endpoints

/** The registry as functions to call, whether a network lies between or not. */
export type RegistryApi = Api<typeof endpoints>
