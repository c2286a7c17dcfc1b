import { RegistryError } from '@skillstead/protocol'
import { isPlainHost } from '../context/addresses.ts'
import type { Call } from '../context/call.ts'
import type { NodeParts } from '../context/node-parts.ts'

/**
 * Decides whether a page of the request's `Origin` may read the response, and returns whether its request needs a key.
 * A page of another site needs one, because a browser can reach nodes behind a firewall. Everyone can reach a node with
 * a public URL, so every page may read from it without a key: `readMethods` are the methods that only read. Throws
 * `forbidden` for the preflight of a request that would be refused.
 */
export function judgeOrigin(node: NodeParts, call: Call, readMethods: readonly string[]): boolean {
  const isPublic = node.publicOrigin !== undefined
  if (isPublic) call.allowedOrigin = '*'
  const origin = call.header('origin')
  if (origin === null || isOwnOrigin(node, call, origin)) return false
  const isPreflight = call.method === 'OPTIONS'
  const method = isPreflight ? (call.header('access-control-request-method') ?? 'GET') : call.method
  const isOpen = node.corsOrigins.has(origin) || (isPublic && readMethods.includes(method))
  const isKeyed = isPreflight ? announcesKey(call) : call.header('authorization') !== null
  if (isOpen || isKeyed) call.allowedOrigin ??= origin
  else if (isPreflight) throw foreignPage()
  return !isOpen && !isPreflight
}

/** Throws `forbidden` for a page of another origin (MCP, Transports: servers must validate `Origin`). */
export function requireOwnOrigin(node: NodeParts, call: Call): void {
  const origin = call.header('origin')
  if (origin !== null && !isOwnOrigin(node, call, origin)) throw foreignPage()
}

export function foreignPage(): RegistryError {
  return new RegistryError(
    'forbidden',
    'Pages of other sites must send an API key. If this is a page of the node, start the node with --public-url; if it is a page of a ' +
      'site that you trust, add the site to --cors-origins.',
  )
}

/**
 * Whether a page belongs to this node. That the page has the host of the request is not enough: any site can point its
 * name to the address of a machine behind a firewall (DNS rebinding). So the host must be an IP address, `localhost`,
 * or the host that the operator or a trusted proxy reports.
 */
function isOwnOrigin(node: NodeParts, call: Call, origin: string): boolean {
  if (!URL.canParse(origin)) return false
  if (node.publicOrigin !== undefined) return origin === node.publicOrigin
  const told = node.addresses.originOf(call.request)
  if (told !== undefined) return origin === told
  return new URL(origin).host === call.header('host') && isPlainHost(new URL(origin).hostname)
}

/** Whether a text is an origin in the form that browsers send. */
export function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text
}

function announcesKey(call: Call): boolean {
  const announced = call.header('access-control-request-headers')?.toLowerCase().split(',') ?? []
  return announced.some((name) => name.trim() === 'authorization')
}
