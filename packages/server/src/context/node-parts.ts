import type { Registry } from '@skillstead/core'
import type { InFlight, OperatorContext } from '@skillstead/core/internal'
import type { Addresses } from './addresses.ts'
import type { Metrics } from './metrics.ts'
import type { AddressOf } from './own-address.ts'
import type { PageVisits } from './page-visits.ts'
import type { Quotas } from './quotas.ts'
import type { RequestLog } from './request-log.ts'

/** State shared by all requests; created once per node. */
export interface NodeParts {
  readonly registry: Registry
  /** The parts of the registry: its database, clock, caches and other services. */
  readonly context: OperatorContext
  readonly addresses: Addresses
  /** The origin of the node's own pages, if the operator configured it. */
  readonly publicOrigin: string | undefined
  /** The path before the paths of links: empty, or the node's path behind a proxy, such as `/skills`. */
  readonly publicPath: string
  readonly addressOf: AddressOf
  /** Origins, other than the node's own, whose pages may call without a key. */
  readonly corsOrigins: ReadonlySet<string>
  readonly quotas: Quotas
  /** The pages of the dashboard that are being loaded. */
  readonly pages: PageVisits
  /** The request bodies that are being received or processed. */
  readonly bodies: InFlight
  readonly metrics: Metrics
  /** Throws `overloaded` while too many requests are waiting; called before costly operations. */
  readonly requireRoom: () => void
  readonly log: RequestLog
  readonly requireKey: boolean
  /** Set when the node shuts down: new requests are refused. */
  draining: boolean
}
