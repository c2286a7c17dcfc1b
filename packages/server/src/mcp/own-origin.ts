import { isIP } from 'node:net'
import { RegistryError } from '@skillstead/protocol'
import type { Call } from '../call.ts'
import type { NodeParts } from '../gate.ts'

/**
 * Throws `forbidden` for a browser's page from elsewhere (MCP, Transports: servers must validate `Origin`). A page of the
 * host that was asked is not enough of a reason: any site can give its name the address of a machine behind a firewall.
 * So the host has to be an address, or `localhost`, or the one that the operator or a trusted proxy says.
 */
export function requireOwnOrigin(node: NodeParts, call: Call): void {
  const origin = call.header('origin')
  if (origin === null || isOwn(node, call, origin)) return
  throw new RegistryError(
    'forbidden',
    'Pages of other sites may not call this address. If the page is of this node, start it with --public-url.',
  )
}

function isOwn(node: NodeParts, call: Call, origin: string): boolean {
  if (!URL.canParse(origin)) return false
  if (node.publicOrigin !== undefined) return origin === node.publicOrigin
  const told = node.addresses.originOf(call.request)
  if (told !== undefined) return origin === told
  const { host, hostname } = new URL(origin)
  return host === call.header('host') && (hostname === 'localhost' || isIP(hostname.replace(/^\[|\]$/g, '')) !== 0)
}
