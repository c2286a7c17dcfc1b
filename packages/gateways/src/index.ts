import { keysOf } from '@skillstead/protocol'
import { apm } from './apm.ts'
import { clawhub } from './clawhub/clawhub.ts'
import { discovery } from './discovery/discovery.ts'
import type { Gateway } from './gateway.ts'
import { git } from './git/git.ts'
import { marketplaces } from './marketplaces.ts'
import { mcp } from './mcp/mcp.ts'
import { npm } from './npm/npm.ts'
import { oci } from './oci/oci.ts'

export { createDeviceRoutes } from './device-routes.ts'
export { createEncodedLists } from './encoded-lists.ts'
export * from './gateway.ts'
export { readProgramVersion } from './version.ts'

/** Every gateway by its name. */
export const gateways = { apm, clawhub, discovery, git, marketplaces, mcp, npm, oci } as const satisfies Record<
  string,
  Gateway
>

/** The name of a gateway. */
export type GatewayName = keyof typeof gateways

/** The names of all gateways. */
export const gatewayNames: readonly GatewayName[] = keysOf(gateways)
