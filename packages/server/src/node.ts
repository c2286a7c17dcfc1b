import { H3 } from 'h3'
import type { ServerRequest } from 'srvx'
import { RegistryError, limits, planNames, attempt } from '@skillstead/protocol'
import { readProgramVersion } from '@skillstead/gateways'
import type { Registry } from '@skillstead/core'
import { createInFlight, type InFlightLimits, type NodePort, partsOf } from '@skillstead/core/internal'
import { createAddresses } from './context/addresses.ts'
import { Call, toOwnCall } from './context/call.ts'
import { isOrigin } from './admission/cross-origin.ts'
import { answerSharedPage, replyRedirect, type ReplyPage } from './pages/answer-page.ts'
import { toBrowserPage } from './pages/browser-addresses.ts'
import { mountEndpoints } from './endpoints/engine.ts'
import { isForPeople, toHandler } from './admission/handler.ts'
import type { NodeParts } from './context/node-parts.ts'
import { mountGateways } from './mount-gateways.ts'
import { Metrics } from './context/metrics.ts'
import { type NodeOptions, apiBase } from './context/options.ts'
import { createAddressOf, parsePublicUrl } from './context/own-address.ts'
import { listMountedRoutes, unknownRoute } from './context/mounted-routes.ts'
import { createRemovePublicPath } from './context/public-path.ts'
import { mountPages } from './pages/pages.ts'
import { nothingHere, replyOptions } from './replies/replies.ts'
import { measureQueueDelay, requireShortQueue } from './context/queue-delay.ts'
import { PageVisits } from './context/page-visits.ts'
import { createQuotas, defaultRates } from './context/quotas.ts'
import { createRequestLog } from './context/request-log.ts'

/** The limit for all request bodies in memory at a time, in addition to the limit of each body. */
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
  /** After this call, requests get 503 `shutting_down`, except `/healthz`, `/metrics`, `/robots.txt`, public files. */
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

/** A node for an HTTP server of Node. */
export interface OpenedNode extends RegistryNode {
  readonly parts: NodeParts
  /** The patterns of all routes. */
  readonly patterns: ReadonlySet<string>
  /** Begins to handle a request. */
  begin(request: ServerRequest): Call
  /** Handles a request that was begun; never throws. */
  handle(call: Call): Promise<Response>
}

/**
 * As {@link createNode}, for a server of Node. Tests pass `queueDelayMs` with the options, to replace the measured
 * delay.
 */
export function openNode(
  registry: Registry,
  options: NodeOptions & { readonly queueDelayMs?: () => number },
): OpenedNode {
  const publicUrl = options.publicUrl === undefined ? undefined : parsePublicUrl(options.publicUrl)
  const context = partsOf(registry)
  const addresses = createAddresses(options.trustedProxies ?? [])
  const metrics = new Metrics()
  const delay = options.queueDelayMs ? { ms: options.queueDelayMs, stop() {} } : measureQueueDelay()
  const node: NodeParts = {
    registry,
    context,
    addresses,
    publicOrigin: publicUrl?.origin,
    publicPath: publicUrl?.path ?? '',
    addressOf: createAddressOf(publicUrl, addresses),
    corsOrigins: toCorsOrigins(options.corsOrigins),
    quotas: createQuotas(options, context.sharedLimits),
    pages: new PageVisits(() => context.clock.now()),
    bodies: createInFlight(bodyLimits),
    metrics,
    requireRoom: () => requireShortQueue(delay, () => metrics.shed()),
    log: createRequestLog(options.logger),
    requireKey: options.requireKey ?? false,
    draining: false,
  }
  context.node.attach(toNodePort(node))
  // Malformed escapes pass h3, which would refuse them before our code runs: our code refuses them, with all headers.
  const app = new H3({ allowMalformedURL: true, silent: true })
  mountEndpoints(app, node)
  const replyPage = mountPages(app, node, options)
  const stopLists = mountGateways(app, node, options)
  mountUnknown(app, node, replyPage)
  const routes = listMountedRoutes(app)
  const removePublicPath = createRemovePublicPath(node.publicPath, routes)
  const refuseTarget = toHandler(node, { admission: 'files', work: throwMalformed })

  function begin(request: ServerRequest): Call {
    metrics.begin()
    removePublicPath?.(request)
    return new Call(request)
  }

  async function handle(call: Call): Promise<Response> {
    const { request } = call
    const event = { context: call }
    request.context = call as Call & ServerRequest['context']
    const target = request.runtime?.node?.req.url
    // h3 would turn a request target that is neither a path nor a URL (RFC 9112, section 3.2) into `/`.
    if (target && target[0] !== '/' && target !== '*' && !URL.canParse(target)) return refuseTarget(event)
    try {
      return await app.fetch(request)
    } catch {
      return refuseTarget(event)
    }
  }

  return {
    parts: node,
    patterns: routes.patterns,
    begin,
    handle,
    fetch: (request: ServerRequest) => handle(begin(request)),
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

function toCorsOrigins(origins: readonly string[] = []): ReadonlySet<string> {
  for (const origin of origins)
    if (!isOrigin(origin)) throw new TypeError(`\`${origin}\` is not an origin. Use the form https://app.example.com.`)
  return new Set(origins)
}

/** Mounts the responses to URLs without another route: a page of the dashboard for browsers, and 404 for programs. */
function mountUnknown(app: H3, node: NodeParts, replyPage: ReplyPage | undefined): void {
  const work = (call: Call) => {
    const path = call.url?.pathname ?? '/'
    if (call.method === 'OPTIONS' && path === '/*') return replyOptions(call, ['GET', 'HEAD', 'OPTIONS'])
    if (replyPage && !isApi(path) && isForPeople(call)) return replyPage(call, 404)
    if (attempt(() => decodeURIComponent(path)) === undefined) throwMalformed()
    throw nothingHere()
  }
  const [ofApi, ofPages] = [
    toHandler(node, { admission: 'api', work }),
    toHandler(node, { admission: 'documents', replyPage, work }),
  ]
  const toEntry = (pathname: string, call: Call) => {
    if (isApi(pathname)) return ofApi
    return replyPage && isForBrowsers(call) && toBrowserPage(pathname) !== undefined ? ofBrowsers : ofPages
  }
  const ofBrowsers = toHandler(node, {
    endpoint: 'dashboard',
    admission: 'page',
    crossOrigin: false,
    replyPage,
    // On a private node, the app redirects users to the page after they have signed in.
    work: (call) =>
      node.requireKey ? replyPage!(call, 200) : replyRedirect(node, call, 302, toBrowserPage(call.url!.pathname)!),
  })
  app.all(unknownRoute, (event) => toEntry(event.url.pathname, toOwnCall(event.context))(event))
  if (!replyPage) return
  const ofShares = toHandler(node, {
    endpoint: 'sharedPage',
    admission: 'page',
    crossOrigin: false,
    // A share link is a credential itself, even on a node that requires a key.
    personal: true,
    replyPage,
    work: (call) => answerSharedPage(node, call, replyPage),
  })
  app.all('/t/:token', (event) => (isForBrowsers(toOwnCall(event.context)) ? ofShares : ofPages)(event))
}

function isApi(path: string): boolean {
  return path === apiBase || path.startsWith(`${apiBase}/`)
}

/** Whether a browser may have sent the request, or a program that previews links, which accepts any media type. */
function isForBrowsers(call: Call): boolean {
  const accept = call.header('accept')?.trim() || '*/*'
  return (call.method === 'GET' || call.method === 'HEAD') && (accept === '*/*' || isForPeople(call))
}

function throwMalformed(): never {
  throw new RegistryError('invalid_request', 'The URL of the request is malformed.')
}

/** Data for administrators about the node that serves their registry. */
function toNodePort({ quotas, metrics }: Pick<NodeParts, 'quotas' | 'metrics'>): NodePort {
  const rates = quotas.rates ?? defaultRates()
  return {
    version: readProgramVersion(),
    rates: {
      on: quotas.rates !== undefined,
      anonymous: rates.anonymous,
      plans: planNames.map((plan) => ({ plan, requestsPerMinute: rates[plan] })),
    },
    limited: () => metrics.limitedTotal(),
  }
}
