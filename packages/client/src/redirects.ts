import { RegistryError } from '@skillstead/protocol/wire'
import type { AbortError } from 'p-retry'
import { forGood } from './retries.ts'

interface Sent {
  readonly agentToken?: string
  readonly caseToken?: string
  readonly shareToken?: string
  /** Whether the request changes something: its body is the caller's too. */
  readonly writes?: boolean
}

const redirectsMax = 5
const statuses = new Set([301, 302, 303, 307, 308])

/**
 * Sends a request that carries a key or a token, or changes something, and follows redirects within its origin alone,
 * with the same method and body. `fetch` would drop `Authorization` on the way to another origin, but send the other headers and the body there.
 * Throws `upstream_failed`.
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
      // Browsers hide the address. They drop a key on the way to another origin, but send a token and a body there.
      if (writes || agentToken || caseToken || shareToken)
        throw fail(`${origin} redirects. Pass the address that it redirects to.`)
      response = await send(address, 'follow')
    }
    // Also checks a `fetch` of the caller that follows redirects itself.
    if (response.redirected) requireOrigin(response, response.url, origin)
    const location = statuses.has(response.status) ? response.headers.get('location') : null
    if (location === null || !URL.canParse(location, address)) return response
    address = new URL(location, address).href
    requireOrigin(response, address, origin)
    cancel(response)
  }
  throw fail(`${origin} redirects in a loop.`)
}

function requireOrigin(response: Response, address: string, origin: string): void {
  const { origin: elsewhere } = new URL(address)
  if (elsewhere === origin) return
  cancel(response)
  throw fail(`${origin} redirects to ${elsewhere}, where no key, token or body is sent. Pass that address instead.`)
}

function cancel({ body }: Response): void {
  body?.cancel().catch(() => undefined)
}

function fail(detail: string): AbortError {
  return forGood(new RegistryError('upstream_failed', detail))
}
