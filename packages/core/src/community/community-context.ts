import type { AddressLimits } from '../accounts/address-limits.ts'
import type { CatalogueContext } from '../catalogue/context/catalogue-context.ts'
import type { Telemetry } from './telemetry.ts'

/** Dependencies of agents, reviews, requests, reputation, heartbeat and installs. */
export interface CommunityContext extends CatalogueContext {
  readonly telemetry: Telemetry
  readonly addressLimits: AddressLimits
}
