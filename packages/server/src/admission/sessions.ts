import { parseCookies, type HTTPEvent } from 'h3'
import type { AnyReply } from '@skillstead/core/internal'
import type { CookieName, Header } from '@skillstead/gateways'
import { RegistryError, toFields } from '@skillstead/protocol'
import type { Call } from '../context/call.ts'
import type { NodeParts } from '../context/node-parts.ts'

/**
 * The name of the session cookie over HTTPS. With the prefix `__Host-`, only this exact host can set the cookie (RFC
 * 6265bis, section 4.1.3.2), so a neighbouring subdomain cannot sign visitors in. If the node is published below a
 * path, the cookie is limited to this path so that other programs of the host do not receive it, and browsers then
 * refuse `__Host-`.
 */
export function toSecureCookieName(publicPath: string, name: CookieName = 'session'): string {
  return `${publicPath === '' ? '__Host-' : '__Secure-'}skillstead-${name}`
}

/**
 * The session token, if the request comes from the node's own pages; otherwise the cookie is ignored. Browsers send
 * cookies automatically, but a page of another origin cannot add the custom header without a preflight, and the
 * response to the preflight never allows it.
 */
export function readSessionToken(node: NodeParts, call: Call): string | undefined {
  if (call.header('x-skillstead-session') !== '1' || call.header('cookie') === null) return undefined
  if (isForeign(node, call)) return undefined
  return readCookie(node, call, 'session')
}

/** The value of a cookie of the node; undefined if the request has no such cookie. */
export function readCookie(node: NodeParts, call: Call, name: CookieName): string | undefined {
  return parseCookies({ req: call.request } as HTTPEvent)[cookieNameOf(node, call, name)] || undefined
}

/**
 * The session token of a browser that opens a page: such a request cannot have the custom header. The session decides
 * only whether the page exists or may be opened, which a page of another site must not learn. So the cookie counts only
 * if the browser reports that its user or a page of the node opened the page.
 */
export function readPageSession(node: NodeParts, call: Call): string | undefined {
  const site = call.header('sec-fetch-site')
  const isOwn = site === 'same-origin' || site === 'none'
  if (!isOwn || call.header('sec-fetch-mode') !== 'navigate' || call.header('cookie') === null) return undefined
  return readCookie(node, call, 'session')
}

/** Throws `forbidden` for a page of another site, so that visiting a page cannot sign a user in or out. */
export function requireOwnPage(node: NodeParts, call: Call): void {
  if (isForeign(node, call))
    throw new RegistryError(
      'forbidden',
      "Sessions are for this node's own pages; programs send the API key itself. If this is such a page, the node does " +
        'not know its own address: its operator has to set --public-url.',
    )
}

/** Moves the session of a result from the body into a cookie. Deletes the cookie if the result has no session. */
export function moveSession(node: NodeParts, call: Call, { status, body }: AnyReply) {
  const { session, ...rest } = toFields(body)
  const leftMs = typeof rest.expiresAt === 'string' ? Date.parse(rest.expiresAt) - node.context.clock.now() : 0
  const value = typeof session === 'string' ? session : ''
  const headers = [toCookie(node, call, 'session', value, Math.max(0, Math.floor(leftMs / 1000)))]
  return { status, body: body === undefined ? undefined : rest, headers }
}

/** The header that sets a cookie of the node for some seconds, or with 0 deletes it. */
export function toCookie(node: NodeParts, call: Call, name: CookieName, value: string, seconds: number): Header {
  const cookie = [
    `${cookieNameOf(node, call, name)}=${value}`,
    `Path=${node.publicPath || '/'}`,
    'HttpOnly',
    `SameSite=${name === 'session' ? 'Strict' : 'Lax'}`,
    `Max-Age=${seconds}`,
  ]
  if (isSecure(node, call)) cookie.push('Secure')
  return ['set-cookie', cookie.join('; ')]
}

function cookieNameOf(node: NodeParts, call: Call, name: CookieName): string {
  return isSecure(node, call) ? toSecureCookieName(node.publicPath, name) : `skillstead-${name}`
}

function isSecure(node: NodeParts, call: Call): boolean {
  return originOf(node, call)?.startsWith('https:') ?? false
}

/** Whether the browser reports that another site's page sent the request. Another host of the domain counts, too. */
function isForeign(node: NodeParts, call: Call): boolean {
  const site = call.header('sec-fetch-site')
  if (site !== null && site !== 'same-origin') return true
  const origin = call.header('origin')
  return origin !== null && origin !== originOf(node, call)
}

/** The origin of the node's own pages: from the operator, a trusted proxy, or the request. */
function originOf(node: NodeParts, call: Call): string | undefined {
  if (node.publicOrigin !== undefined) return node.publicOrigin
  const address = node.addresses.originOf(call.request) ?? call.request.url
  return URL.canParse(address) ? new URL(address).origin : undefined
}
