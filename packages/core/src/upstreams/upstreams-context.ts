import type { CatalogueContext } from '../catalogue/catalogue-context.ts'
import type { Upstreams } from './upstream-port.ts'

/** Dependencies of mirrored skills. */
export interface UpstreamsContext extends CatalogueContext {
  /** The upstreams of a mirror, once one is attached. */
  readonly upstreams: Upstreams
}
