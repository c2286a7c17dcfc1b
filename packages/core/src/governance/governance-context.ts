import type { AddressLimits } from '../accounts/address-limits.ts'
import type { CatalogueContext } from '../catalogue/context/catalogue-context.ts'

/** Dependencies of quarantine, moderation and takedowns. */
export interface GovernanceContext extends CatalogueContext {
  readonly addressLimits: AddressLimits
}
