import type { H3 } from 'h3'
import { localApi } from '@skillstead/core'
import { localCall, type CallInFlight, toMetric } from '@skillstead/core/internal'
import {
  createDeviceRoutes,
  createEncodedLists,
  gatewayNames,
  gateways,
  type GatewayCall,
  type GatewayHost,
  type GatewayName,
  type GatewayRoute,
} from '@skillstead/gateways'
import { RegistryError } from '@skillstead/protocol'
import { toLimitKey } from './context/addresses.ts'
import { readRequestBody } from './endpoints/body.ts'
import { toOwnCall as own, type Call } from './context/call.ts'
import { toContentHeaders } from './replies/content.ts'
import { requireOwnOrigin } from './admission/cross-origin.ts'
import { toClientKind, toClientName } from './endpoints/engine.ts'
import { readFreshness } from './endpoints/freshness.ts'
import { limitKeyOf, requireShared, spendBytes, spendFile, spendOne } from './admission/admit.ts'
import { toHandler } from './admission/handler.ts'
import type { NodeParts } from './context/node-parts.ts'
import { readCookie, toCookie } from './admission/sessions.ts'
import { toInput } from './endpoints/input.ts'
import type { NodeOptions } from './context/options.ts'
import { isKnownToCaller, reply, toPublicError } from './replies/replies.ts'
import { routes } from './endpoints/routes.ts'

/**
 * Mounts the protocols of other ecosystems. Returns a function that stops updating their lists with changes of the
 * catalogue. Throws a TypeError for an unknown gateway.
 */
export function mountGateways(
  app: H3,
  node: NodeParts,
  options: Pick<NodeOptions, 'gateways' | 'discoveryPack' | 'signIn' | 'tokenExchange'>,
): () => void {
  const lists = createEncodedLists(node.context)
  const host = createHost(node, options.discoveryPack, lists)
  for (const name of options.gateways ?? gatewayNames) {
    if (!Object.hasOwn(gateways, name)) throw new TypeError(`\`${name}\` is not a gateway.`)
    for (const route of gateways[name](host)) app.all(route.pattern, toHandler(node, toGatewayEntry(node, name, route)))
  }
  const builtIn = [
    ...createDeviceRoutes(host),
    ...(options.signIn?.routes(host) ?? []),
    ...toExchangeRoutes(options, host),
  ]
  for (const route of builtIn) app.all(route.pattern, toHandler(node, toGatewayEntry(node, 'browser', route)))
  node.registry.addMetrics(async () => [
    toMetric(
      'skillstead_lists_built_total',
      'Indexes and other lists of gateways that were built because they were not cached.',
      lists.built,
    ),
  ])
  return lists.stop
}

function toExchangeRoutes({ tokenExchange }: Pick<NodeOptions, 'tokenExchange'>, host: GatewayHost): GatewayRoute[] {
  if (!tokenExchange) return []
  let loading: ReturnType<typeof tokenExchange> | undefined
  return [
    {
      pattern: '/token/exchange',
      methods: ['POST'],
      endpoint: 'exchangeToken',
      admission: 'guests',
      origins: 'none',
      allowances: ['exchange'],
      answer: async (call) => (await (loading ??= tokenExchange()))(host, call),
    },
  ]
}

function toGatewayEntry(
  node: NodeParts,
  name: GatewayName | 'browser',
  { origins = 'allowed', toFailure, reads, ...route }: GatewayRoute,
): Parameters<typeof toHandler>[1] {
  return {
    ...route,
    crossOrigin: origins === 'allowed',
    toFailure,
    async work(call) {
      if (origins === 'own') requireOwnOrigin(node, call)
      call.kind = toClientKind(call, name)
      const params = decodeParams(call)
      if (node.requireKey) await requireShared(node, call, reads?.(params))
      try {
        return reply(call, await route.answer(call, params))
      } finally {
        bodies.get(call)?.end()
      }
    },
  }
}

/** The request bodies that gateways have read; each counts as memory in use until the response. */
const bodies = new WeakMap<Call, CallInFlight>()

/** The part of a node that gateways use. The calls that gateways get are of this package's class `Call`. */
function createHost(node: NodeParts, discoveryPack: string | undefined, lists: GatewayHost['lists']): GatewayHost {
  const limitAddressOf = (call: GatewayCall) => toLimitKey(node.addresses.clientOf(own(call).request))
  return {
    registry: node.registry,
    context: node.context,
    discoveryPack,
    lists,
    publicPath: node.publicPath,
    addressOf: (call) => node.addressOf(own(call)),
    api(call, client) {
      return localApi(node.registry, call.caller, {
        address: limitAddressOf(call),
        agentToken: call.header('x-agent-token') ?? undefined,
        requireRoom: node.requireRoom,
        client: call.header('x-skillstead-client')?.trim() || client || toClientName(own(call)),
        kind: own(call).kind,
      })
    },
    async read(call, endpoint) {
      const route = routes.find(({ name }) => name === endpoint)!
      const { caller } = own(call)
      const { requireRoom } = node
      const input = toInput(own(call), route, undefined)
      const { body } = await localCall(node.registry, endpoint, input, caller, { requireRoom })
      return body
    },
    countedBy: (call) => ({ client: toClientName(own(call)), kind: own(call).kind, address: limitAddressOf(call) }),
    limitAddressOf,
    limitKeyOf: (call) => limitKeyOf(node, own(call)),
    spendRequest: (call) => spendOne(node, own(call)),
    spendFile: (call, files) => spendFile(node, own(call), files),
    spendBytes: (call, bytes) => spendBytes(node, own(call), bytes),
    readCookie: (call, name) => readCookie(node, own(call), name),
    toCookie: (call, name, value, seconds) => toCookie(node, own(call), name, value, seconds),
    readBody(call, bytesMax) {
      const held = node.bodies.begin(limitKeyOf(node, own(call)))
      bodies.set(own(call), held)
      return readRequestBody(own(call).request, bytesMax, held.hold)
    },
    async holding(call, bytes, work) {
      const held = node.bodies.begin(limitKeyOf(node, own(call)))
      try {
        held.hold(bytes)
        return await work()
      } finally {
        held.end()
      }
    },
    isKnown: (call, etag) => isKnownToCaller(own(call), etag),
    toContentAnswer: (content) => ({ body: content.body, ...toContentHeaders(content) }),
    async freshness(wanted) {
      const { port } = node.context.upstreams
      return port === undefined ? [] : readFreshness(port, wanted)
    },
    hangUp: (call) => own(call).request.runtime?.node?.req.socket?.destroy(),
    failed: (call, error) => node.log.failure(own(call), toPublicError(error)),
  }
}

/** The decoded parameters of a path. Refuses NUL characters, which PostgreSQL cannot compare. */
function decodeParams(call: Call): Record<string, string> {
  return Object.fromEntries(
    Object.entries(call.params ?? {}).map(([name, value]) => [name, decodeGatewaySegment(value)]),
  )
}

function decodeGatewaySegment(segment: string): string {
  try {
    const text = decodeURIComponent(segment)
    if (!text.includes('\0')) return text
  } catch (cause) {
    throw new RegistryError('invalid_request', 'The URL of the request is malformed.', { cause })
  }
  throw new RegistryError('invalid_request', 'The URL of the request must not contain NUL characters.')
}
