import type { H3 } from 'h3'
import type { CallOptions } from '@skillstead/core'
import type { Endpoint, EndpointName } from '@skillstead/protocol'
import { PermittedCall, SkillMoved, type ClientKind } from '@skillstead/core/internal'
import { toLimitKey } from '../context/addresses.ts'
import { toEndpointAnswer, type Result } from './answers.ts'
import type { Call } from '../context/call.ts'
import { withFreshness } from './freshness.ts'
import { limitKeyOf, requireShared } from '../admission/admit.ts'
import { refuseCallMethod, toHandler } from '../admission/handler.ts'
import type { NodeParts } from '../context/node-parts.ts'
import { claimKey } from './idempotency.ts'
import { readPayload, toInput } from './input.ts'
import { etagOf, isKnownToCaller, nothingHere, reply } from '../replies/replies.ts'
import { joinName, renameInPath, routes, toSlashedPattern, type Route } from './routes.ts'
import { moveSession, readSessionToken, requireOwnPage } from '../admission/sessions.ts'

/**
 * Mounts the endpoint table: a route for every row, `HEAD` for every `GET`, and 405 or `OPTIONS` for other methods.
 * Mounts the table a second time for names of skills with an unencoded slash.
 */
export function mountEndpoints(app: H3, node: NodeParts): void {
  mountPatterns(app, node, ({ pattern }) => pattern, takeParams)
  mountPatterns(app, node, toSlashedPattern, takeSlashedParams)
}

/**
 * Converts the parameters that h3 found to those of the route. Throws `not_found` for parameters that do not fit the
 * route.
 */
type TakeParams = (call: Call) => void

const takeParams: TakeParams = () => {}

const takeSlashedParams: TakeParams = (call) => {
  call.params = joinName(call.params ?? {})
  if (!call.params) throw nothingHere()
}

function mountPatterns(
  app: H3,
  node: NodeParts,
  toPattern: (route: Route) => string | undefined,
  take: TakeParams,
): void {
  const methodsOf = new Map<string, string[]>()
  const readMethodsOf = new Map<string, string[]>()
  for (const route of routes) {
    const pattern = toPattern(route)
    if (pattern === undefined) continue
    const { name: endpoint, endpoint: row } = route
    const methods: (Endpoint['method'] | 'HEAD')[] = row.method === 'GET' ? ['GET', 'HEAD'] : [row.method]
    const readMethods = row.reads ? methods : []
    const admission = row.open ? 'guests' : sharedReads.has(endpoint) ? 'shared' : 'api'
    const work = toWork(node, route, take)
    const handler = toHandler(node, { endpoint, admission, allowances: row.allowances, readMethods, work })
    for (const taken of methods) app.on(taken, pattern, handler)
    methodsOf.set(pattern, [...(methodsOf.get(pattern) ?? []), ...methods])
    readMethodsOf.set(pattern, ['GET', 'HEAD', ...(readMethodsOf.get(pattern) ?? []), ...readMethods])
  }
  for (const [pattern, methods] of methodsOf) {
    const work = (call: Call) => {
      take(call)
      return refuseCallMethod(call, methods)
    }
    app.all(pattern, toHandler(node, { admission: 'api', readMethods: readMethodsOf.get(pattern), work }))
  }
}

/** Endpoints for the page of a shared skill on a private node. None names other skills, or users who read it. */
const sharedReads: ReadonlySet<EndpointName> = new Set<EndpointName>([
  'getSkill',
  'getSkillMd',
  'getArchive',
  'getFile',
  'listVersions',
  'getVersion',
  'diffSkill',
])

/** Handles an admitted request to an endpoint: reads the input, calls the operation, and builds the response. */
function toWork(node: NodeParts, route: Route, take: TakeParams): (call: Call) => Promise<Response> {
  const { endpoint, name } = route
  return async function answer(call) {
    take(call)
    const permitted = new PermittedCall(name, call.caller)
    const held = endpoint.method === 'GET' ? undefined : node.bodies.begin(limitKeyOf(node, call))
    try {
      const payload = held && (await readPayload(call, route, held))
      const claim = held && (await claimKey(node, route, call, payload))
      if (claim?.replayed) return claim.replayed
      const context = claim?.context ?? node.context
      let result: Result
      try {
        if (endpoint.cookie) requireOwnPage(node, call)
        const input = toInput(call, route, payload)
        if (node.requireKey && sharedReads.has(name)) await requireShared(node, call, { skill: String(input['name']) })
        const options = toCallOptions(node, call, route, input)
        // A response that the caller has cached is not a download. The entity tags show whether the caller has it, so
        // the operation first runs without counting, and again with counting if the caller does not have the response.
        const compares = options.counts === true && call.header('if-none-match') !== null
        const first = compares ? { ...options, counts: false } : options
        result = await permitted.run(context, input, first)
        if (compares && !isKnownToCaller(call, etagOf(toEndpointAnswer(node, call, route, result)))) {
          result = await permitted.run(context, input, options)
        }
        if (endpoint.cookie) result = moveSession(node, call, result)
      } catch (error) {
        await claim?.fail(error)
        if (error instanceof SkillMoved) return replyMoved(node, call, route, error.fullName)
        throw error
      }
      await claim?.finish(result)
      const given = toEndpointAnswer(node, call, route, result)
      const { port } = node.context.upstreams
      return reply(call, port === undefined ? given : await withFreshness(port, call, route, given))
    } finally {
      held?.end()
    }
  }
}

function replyMoved(node: NodeParts, call: Call, route: Route, fullName: string): Response {
  const location = node.publicPath + renameInPath(route, call.params ?? {}, fullName) + (call.url?.search ?? '')
  const cacheControl = call.personal ? 'private, no-store' : 'no-cache'
  return reply(call, { status: 308, body: null, cacheControl, headers: [['location', location]] })
}

/** The options of a call. Tokens are passed only to operations that use them. */
function toCallOptions(node: NodeParts, call: Call, route: Route, input: Record<string, unknown>): CallOptions {
  const agentToken = call.header('x-agent-token') ?? undefined
  const caseToken = call.header('x-case-token') ?? undefined
  const shareToken = call.header('x-share-token') ?? undefined
  if (agentToken !== undefined || caseToken !== undefined || shareToken !== undefined) call.personal = true
  const counts = route.counts(input) && call.method !== 'HEAD' && call.header('x-skills-update-check') !== '1'
  // Only calls that count or write need the address; other reads are limited by the request rate alone.
  const needsAddress = counts || route.endpoint.method !== 'GET'
  const address = needsAddress ? toLimitKey(node.addresses.clientOf(call.request)) : undefined
  const sessionToken = route.endpoint.cookie ? readSessionToken(node, call) : undefined
  const { requireRoom } = node
  const tokens = { agentToken, caseToken, shareToken, sessionToken }
  if (counts) call.kind = toClientKind(call, call.header('x-skillstead-install') === '1' ? 'cli' : 'api')
  const { kind, cacheKey } = call
  return { counts, client: toClientName(call), kind, address, ...tokens, requireRoom, cacheKey }
}

/**
 * The kind of client as which a call counts: `browser` if a browser opens the address, in whatever protocol, or a page
 * of the dashboard calls, because a person looks at the response; otherwise `kind`.
 */
export function toClientKind(call: Call, kind: ClientKind): ClientKind {
  const isSeen = call.header('sec-fetch-mode') === 'navigate' || call.header('x-skillstead-page') !== null
  return isSeen ? 'browser' : kind
}

/** The calling program's name: `X-Skillstead-Client`, or the product of its User-Agent (RFC 9110, section 10.1.5). */
export function toClientName(call: Call): string | undefined {
  const named = call.header('x-skillstead-client')?.trim()
  if (named) return named
  return /^[\w!#$%&'*+.^`|~-]+/.exec(call.header('user-agent') ?? '')?.[0]
}
