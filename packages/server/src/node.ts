import { H3 } from 'h3'
import type { ServerRequest } from 'srvx'
import { RegistryError, limits } from '@skillstead/protocol'
import type { Registry } from '@skillstead/core'
import { createInFlight, partsOf, type InFlightLimits } from '@skillstead/core/internal'
import { createAddresses } from './addresses.ts'
import { createServeCached, type ServeCached } from './cached-details.ts'
import { Call } from './call.ts'
import { isOrigin } from './cross-origin.ts'
import type { ReplyPage } from './dashboard.ts'
import { mountEndpoints, toEndpointHandler } from './engine.ts'
import { toHandler, type NodeParts } from './gate.ts'
import { mountGateways } from './mount-gateways.ts'
import { createMetrics } from './metrics.ts'
import type { NodeOptions } from './options.ts'
import { createAddressOf } from './own-address.ts'
import { mountPages } from './pages.ts'
import { nothingHere, replyOptions } from './replies.ts'
import { toNodePort } from './node-port.ts'
import { measureQueueDelay, requireRoom } from './queue-delay.ts'
import { createQuotas } from './quotas.ts'
import { createRequestLog } from './request-log.ts'
import { apiBase, detailRoute, matchDetail } from './routes.ts'

/** Each body has its own limit; this one is for all bodies in memory at a time. */
const bodyLimits: InFlightLimits = {
  callerCallsMax: Infinity,
  callsMax: Infinity,
  callerBytesMax: 4 * limits.archiveBytesMax,
  bytesMax: 12 * limits.archiveBytesMax,
  of: 'requests',
}

/** A registry as a web handler, which any server with `Request` and `Response` can mount. */
export interface RegistryNode {
  /** Handles one request; never throws. The client's address is read from srvx's `request.ip`. */
  fetch(request: Request): Promise<Response>
  /** After this call all requests but `/healthz` get 503 `shutting_down`. */
  drain(): void
  /** Stops the measurements of the node; the registry stays open. */
  close(): void
}

/**
 * Serves a registry over HTTP. Throws a TypeError for invalid options.
 *
 * @example
 * const node = createNode(await openRegistry({ path: 'skills.db' }))
 * const response = await node.fetch(new Request('http://localhost/api/v1/skills'))
 */
export function createNode(registry: Registry, options: NodeOptions = {}): RegistryNode {
  const { fetch, drain, close } = openNode(registry, options)
  return { fetch, drain, close }
}

/**
 * As {@link createNode}, for a server of Node. `patterns` are those of all routes; a route may be for all methods. Tests
 * pass `queueDelayMs` alongside the options, in place of the measured delay.
 */
export function openNode(
  registry: Registry,
  options: NodeOptions & { readonly queueDelayMs?: () => number },
): RegistryNode & { readonly serveCached: ServeCached; readonly patterns: ReadonlySet<string> } {
  if (options.publicUrl !== undefined && !URL.canParse(options.publicUrl)) {
    throw new TypeError(`\`publicUrl\` is not a URL: ${options.publicUrl}`)
  }
  const parts = partsOf(registry)
  const addresses = createAddresses(options.trustedProxies ?? [])
  const metrics = createMetrics()
  const delay = options.queueDelayMs ? { ms: options.queueDelayMs, stop() {} } : measureQueueDelay()
  const node: NodeParts = {
    registry,
    context: parts,
    addresses,
    publicOrigin: options.publicUrl === undefined ? undefined : new URL(options.publicUrl).origin,
    addressOf: createAddressOf(options.publicUrl, addresses),
    corsOrigins: toCorsOrigins(options.corsOrigins),
    quotas: createQuotas(options, parts.sharedLimits),
    bodies: createInFlight(bodyLimits),
    metrics,
    requireRoom: () => requireRoom(delay, metrics.shed),
    log: createRequestLog(options.logger),
    requireKey: options.requireKey ?? false,
    draining: false,
  }
  parts.node.attach(toNodePort(node))
  // Invalid escapes are refused by our own code, with all headers, instead of by h3 before our code runs.
  const app = new H3({ allowMalformedURL: true, silent: true })
  mountEndpoints(app, node)
  const replyPage = mountPages(app, node, options)
  const stopLists = mountGateways(app, node, options)
  mountUnknown(app, node, replyPage)
  const handleDetail = toEndpointHandler(node, detailRoute)
  const refuseTarget = toHandler(node, { admission: 'files', work: throwMalformed })
  return {
    serveCached: createServeCached(node),
    patterns: new Set(app['~routes'].map(({ route }) => route ?? '')),
    fetch(request: ServerRequest) {
      const call = new Call(request)
      const target = toTarget(request)
      const context = call as unknown as NonNullable<ServerRequest['context']>
      call.params = call.method === 'GET' ? matchDetail(target) : undefined
      if (call.params) return handleDetail({ context })
      request.context = context
      // h3 would turn a request target that is neither a path nor a URL (RFC 9112, section 3.2) into `/`.
      if (target[0] !== '/' && target !== '*' && !URL.canParse(target)) return refuseTarget({ context })
      try {
        return app.fetch(request) as Promise<Response>
      } catch {
        return refuseTarget({ context })
      }
    },
    drain() {
      node.draining = true
      registry.endWaits()
    },
    close() {
      metrics.close()
      delay.stop()
      stopLists()
    },
  }
}

/** The target of a request as the client sent it. Reading the URL of a request of Node would parse it, and may throw. */
function toTarget(request: ServerRequest): string {
  const sent = request.runtime?.node?.req.url
  if (sent !== undefined) return sent
  const { pathname, search } = new URL(request.url)
  return pathname + search
}

function toCorsOrigins(origins: readonly string[] = []): ReadonlySet<string> {
  for (const origin of origins)
    if (!isOrigin(origin)) throw new TypeError(`\`${origin}\` is not an origin. Use the form https://app.example.com.`)
  return new Set(origins)
}

/** Mounts what responds to all other addresses: the page of the dashboard for browsers, and 404 for programs. */
function mountUnknown(app: H3, node: NodeParts, replyPage: ReplyPage | undefined): void {
  const work = (call: Call) => {
    const path = call.url?.pathname ?? '/'
    if (call.method === 'OPTIONS' && path === '/*') return replyOptions(call, ['GET', 'HEAD', 'OPTIONS'])
    if (replyPage && !isApi(path) && isForPeople(call)) return replyPage(call, 404)
    if (!isDecodable(path)) throwMalformed()
    throw nothingHere()
  }
  const [ofApi, ofPages] = [toHandler(node, { admission: 'api', work }), toHandler(node, { admission: 'files', work })]
  app.all('/**', (event) => (isApi(event.url.pathname) ? ofApi(event) : ofPages(event)))
}

function isApi(path: string): boolean {
  return path === apiBase || path.startsWith(`${apiBase}/`)
}

/** Whether a browser navigates to the address. */
function isForPeople(call: Call): boolean {
  return call.method === 'GET' && (call.header('accept') ?? '').includes('text/html')
}

function isDecodable(path: string): boolean {
  try {
    return decodeURIComponent(path) !== undefined
  } catch {
    return false
  }
}

function throwMalformed(): never {
  throw new RegistryError('invalid_request', 'The address of the request is malformed.')
}
