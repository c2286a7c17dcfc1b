import { RegistryError } from '@skillstead/protocol/wire'
import type { AbortError } from 'p-retry'
import { forGood } from './retries.ts'

interface Sent {
  readonly agentToken?: string
  readonly caseToken?: string
  readonly shareToken?: string
  /** Whether the request is a write, whose body must not be sent to another origin. */
  readonly writes?: boolean
}

const redirectsMax = 5
const statuses = new Set([301, 302, 303, 307, 308])

/**
 * Sends a request with a key or token, or a write, and follows redirects only within its origin, with the same method
 * and body. `fetch` would follow a redirect to another origin without `Authorization`, but with the other headers and
 * the body. Throws `upstream_failed` for a redirect to another origin, and after too many redirects.
 */
export async function followRedirects(
  send: (url: string, redirect: RequestRedirect) => Promise<Response>,
  url: string,
  { agentToken, caseToken, shareToken, writes }: Sent,
): Promise<Response> {
  const { origin } = new URL(url)
  let address = url
  for (let i = 0; i <= redirectsMax; i += 1) {
    let response = await send(address, 'manual')
    if (response.type === 'opaqueredirect') {
      // Browsers hide the target of a redirect. To another origin they send no API key, but the tokens and the body.
      if (writes || agentToken || caseToken || shareToken)
        throw toRedirectError(`${origin} redirects. Pass the address that it redirects to.`)
      response = await send(address, 'follow')
    }
    // A custom `fetch` may have followed the redirects itself.
    if (response.redirected) requireOrigin(response, response.url, origin)
    const location = statuses.has(response.status) ? response.headers.get('location') : null
    if (location === null || !URL.canParse(location, address)) return response
    address = new URL(location, address).href
    requireOrigin(response, address, origin)
    cancelBody(response)
  }
  throw toRedirectError(`${origin} redirects in a loop. Check the URL of the registry.`)
}

function requireOrigin(response: Response, address: string, origin: string): void {
  const { origin: elsewhere } = new URL(address)
  if (elsewhere === origin) return
  cancelBody(response)
  throw toRedirectError(
    `${origin} redirects to ${elsewhere}, where no key, token or body is sent. Pass that address instead.`,
  )
}

function cancelBody({ body }: Response): void {
  body?.cancel().catch(() => undefined)
}

function toRedirectError(detail: string): AbortError {
  return forGood(new RegistryError('upstream_failed', detail))
}
