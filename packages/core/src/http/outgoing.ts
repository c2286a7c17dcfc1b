import { RegistryError } from '@skillstead/protocol'
import { createHttpClient, followRedirects } from './http-client.ts'
import { createSystemResolver, lookUpHost, readTxt, type NameResolver } from './name-resolver.ts'
import type { ProxySettings } from './proxy.ts'
import { createAddressRules } from './public-addresses.ts'
import { parseSecureTarget, parseTarget, requireAllowed, toSocketHost, toLiteralAddress } from './request-target.ts'

/**
 * The registry's HTTP client for URLs that users give. To protect the operator's own network, the client reaches only
 * public addresses and those in `allowNetworks`.
 */
export interface Outgoing {
  /** Whether the node is offline: requests then throw `offline`. */
  readonly isOffline: boolean
  /**
   * Rejects a URL that is not public before it is stored: a scheme other than http and https, credentials, a host that
   * is or resolves to a loopback, private, link-local or other special-purpose address. A name that does not resolve is
   * accepted. An offline node checks only IP literals; what a name resolves to is checked by the node that connects.
   * Throws `invalid_request` that names `field`.
   */
  requirePublic(address: string, field: string): Promise<URL>
  /**
   * GETs a URL. The host is resolved once, every address is checked, and the connection goes to a checked address.
   * Redirects to the same host are followed, other redirects refused. Throws `invalid_request` for addresses that are
   * not public, `upstream_failed` (no response, too large, a redirect to another host) and `upstream_timeout`.
   */
  get(address: string, options: OutgoingRequest): Promise<OutgoingResponse>
  /**
   * POSTs text to an https URL over a keep-alive connection; each new connection is checked as in {@link get}. Returns
   * the status. Redirects are not followed. If the server closes a reused connection during the request, the text is
   * sent once more. Throws like {@link get}.
   */
  post(address: string, request: OutgoingPost): Promise<number>
  /**
   * Reads the TXT records of a name, each joined from its strings (RFC 1035, section 3.3.14); empty if the name does
   * not exist.
   */
  readTxt(name: string): Promise<string[]>
  close(): Promise<void>
}

interface OutgoingRequest {
  /** A larger body is refused as soon as its size is known. */
  readonly bytesMax: number
  /** Deadline for the whole exchange, including redirects and the body. Default: 10 s. */
  readonly timeoutMs?: number
}

interface OutgoingPost {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Deadline for the status, including the DNS lookup. */
  readonly timeoutMs: number
}

export interface OutgoingResponse {
  readonly status: number
  /** URL of the response after redirects. */
  readonly url: string
  readonly contentType: string
  readonly bytes: Uint8Array
}

/** Which addresses outgoing requests may reach, and how. */
export interface OutgoingOptions {
  /** Whether the node is offline: opens no socket, sends no DNS query; outbox jobs for the network stay pending. */
  readonly offline?: boolean
  /** Networks (CIDR) that may be reached although they are not public. */
  readonly allowNetworks?: readonly string[]
  /** Certificates (PEM) to trust in addition to the system's. */
  readonly ca?: readonly string[]
  /**
   * Proxies for HTTP requests. The node itself resolves the names in URLs that users give, and asks the proxy for tunnels
   * to addresses that it has checked. Default: none.
   */
  readonly proxy?: ProxySettings | undefined
  /** Default: the system's resolver. */
  readonly resolver?: NameResolver
}

const requestMs = 10_000
const resolveMs = 5_000
const headers = { 'user-agent': 'skillstead', accept: '*/*', 'accept-encoding': 'identity' }

/** Creates the guarded HTTP client. Throws a TypeError for networks, certificates and proxies that cannot be parsed. */
export function createOutgoing(options: OutgoingOptions): Outgoing {
  const rules = createAddressRules(options.allowNetworks ?? [])
  const resolver = options.resolver ?? createSystemResolver()
  const client = createHttpClient({ guard: { resolver, rules }, ca: options.ca, proxy: options.proxy })
  const isOffline = options.offline ?? false

  function requireOnline(): void {
    if (!isOffline) return
    throw new RegistryError('offline', 'This node is in offline mode and makes no outgoing requests.')
  }

  return {
    isOffline,
    async requirePublic(address, field) {
      const url = parseTarget(address, field)
      const host = toSocketHost(url)
      const literal = toLiteralAddress(host)
      const find = () => client.within(url, { timeoutMs: resolveMs }, () => lookUpHost(resolver, host))
      const addresses = isOffline ? literal : await find().catch(() => literal)
      requireAllowed(host, addresses, rules, field)
      return url
    },
    async get(address, { bytesMax, timeoutMs = requestMs }) {
      requireOnline()
      const start = parseTarget(address, 'url')
      const answer = await client.within(start, { timeoutMs }, (cancellation) =>
        followRedirects(start, { isGuarded: true }, (url) =>
          client.send(
            url,
            { method: 'GET', headers, reset: true },
            { bytesMax, timeoutMs, signal: cancellation.toSignal() },
          ),
        ),
      )
      const { status, url, bytes } = answer
      return { status, url: url.href, contentType: answer.headers.get('content-type') ?? '', bytes }
    },
    async post(address, { timeoutMs, ...request }) {
      requireOnline()
      return client.sendForStatus(parseSecureTarget(address, 'url'), { method: 'POST', ...request }, { timeoutMs })
    },
    async readTxt(name) {
      requireOnline()
      const url = new URL(`dns:${name}`)
      return client.within(url, { timeoutMs: resolveMs }, () => readTxt(resolver, name))
    },
    close: () => client.close(),
  }
}
