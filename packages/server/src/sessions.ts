import { parseCookies, type HTTPEvent } from 'h3'
import { RegistryError } from '@skillstead/protocol'
import type { Result } from './answers.ts'
import type { Call } from './call.ts'
import type { NodeParts } from './gate.ts'

const plainCookieName = 'skillstead-session'
/** What browsers let nobody but this very host set (RFC 6265bis, section 4.1.3.2): no neighbour signs its visitors in. */
export const secureCookieName = `__Host-${plainCookieName}`

/**
 * The token of a session, where the request is one of the node's own pages; otherwise its cookie is as good as not
 * there. Browsers send cookies by themselves, but no page from elsewhere can add the custom header: it would have to
 * ask first, and the answer to that never names it.
 */
export function readSessionToken(node: NodeParts, call: Call): string | undefined {
  if (call.header('x-skillstead-session') !== '1' || call.header('cookie') === null) return undefined
  if (isForeign(node, call)) return undefined
  return parseCookies({ req: call.request } as HTTPEvent)[cookieNameOf(node, call)]
}

/** Throws `forbidden` for a page of another site: nobody is signed in or out by a page that he only visits. */
export function requireOwnPage(node: NodeParts, call: Call): void {
  if (isForeign(node, call))
    throw new RegistryError(
      'forbidden',
      "Sessions are for this node's own pages: programs send the API key itself. If this is one of them, the node does " +
        'not know its own address; whoever runs it says so with --public-url.',
    )
}

/** A result with its session moved from the body into a cookie; where it has none, the cookie is ended. */
export function moveSession(node: NodeParts, call: Call, { status, body }: Result): Result {
  const { session, ...rest } = (body ?? {}) as { session?: string; expiresAt?: string }
  const leftMs = rest.expiresAt === undefined ? 0 : Date.parse(rest.expiresAt) - node.registry.clock.now()
  const cookie = [
    `${cookieNameOf(node, call)}=${session ?? ''}`,
    'Path=/',
    'HttpOnly',
    'SameSite=Strict',
    `Max-Age=${Math.max(0, Math.floor(leftMs / 1000))}`,
  ]
  if (isSecure(node, call)) cookie.push('Secure')
  return { status, body: body === undefined ? undefined : rest, headers: [['set-cookie', cookie.join('; ')]] }
}

function cookieNameOf(node: NodeParts, call: Call): string {
  return isSecure(node, call) ? secureCookieName : plainCookieName
}

function isSecure(node: NodeParts, call: Call): boolean {
  return originOf(node, call)?.startsWith('https:') ?? false
}

/** Whether a browser says that another site's page asks. A neighbour on the same domain is another site too. */
function isForeign(node: NodeParts, call: Call): boolean {
  const site = call.header('sec-fetch-site')
  if (site !== null && site !== 'same-origin') return true
  const origin = call.header('origin')
  return origin !== null && origin !== originOf(node, call)
}

/** The origin of the node's own pages: as the operator says, as a trusted proxy tells, or as the request asked for it. */
function originOf(node: NodeParts, call: Call): string | undefined {
  if (node.publicOrigin !== undefined) return node.publicOrigin
  const address = node.addresses.originOf(call.request) ?? call.request.url
  return URL.canParse(address) ? new URL(address).origin : undefined
}
