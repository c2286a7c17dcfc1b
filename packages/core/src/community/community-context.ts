import type { AddressLimits } from '../accounts/address-limits.ts'
import type { CatalogueContext } from '../catalogue/context/catalogue-context.ts'
import type { UsedSkill } from '../catalogue/context/use-counts.ts'

/** Dependencies of agents, reviews, requests, reputation, heartbeat and installs. */
export interface CommunityContext extends CatalogueContext {
  readonly telemetry: Telemetry
  readonly addressLimits: AddressLimits
}

/** Records installs and adds them to the counters. */
export interface Telemetry {
  /** Records an install by a client with the given name; resolves after the commit. */
  record(skill: UsedSkill, client?: string): Promise<void>
  flush(): Promise<void>
  stop(): Promise<void>
}
