import type { H3 } from 'h3'
import type { CallOptions } from '@skillstead/core'
import { authorize, localCall, SkillMoved } from '@skillstead/core/internal'
import { toLimitKey } from './addresses.ts'
import { toAnswer, type Result } from './answers.ts'
import { callOf, type Call } from './call.ts'
import { withFreshness } from './freshness.ts'
import { ErrorWithHeaders, handle, limitKeyOf, type NodeParts } from './gate.ts'
import { answerOnce, readIdempotencyKey } from './idempotency.ts'
import { readPayload, toInput, type Payload } from './input.ts'
import { etagOf, isKnownToCaller, nothingHere, reply, replyOptions } from './replies.ts'
import { joinName, renameInPath, routes, toSlashedPattern, type Route } from './routes.ts'
import { moveSession, readSessionToken, requireOwnPage } from './sessions.ts'

/**
 * Mounts the endpoint table: a route for every row, `HEAD` for every `GET`, and 405 or `OPTIONS` for other methods.
 * Mounts it a second time for names of skills with an unencoded slash.
 */
export function mountEndpoints(app: H3, node: NodeParts): void {
  mountPatterns(app, node, ({ pattern }) => pattern, takeParams)
  mountPatterns(app, node, toSlashedPattern, takeSlashedParams)
}

/** Converts the parameters that h3 found to those of the route. Throws `not_found` if they do not fit. */
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
  for (const route of routes) {
    const pattern = toPattern(route)
    if (pattern === undefined) continue
    const { method } = route.endpoint
    const methods = method === 'GET' ? ['GET', 'HEAD'] : [method]
    for (const taken of methods) {
      app.on(taken as 'GET', pattern, (event) => {
        const call = callOf(event)
        call.endpoint = route.name
        if (route.endpoint.allowances) call.allowances = route.endpoint.allowances
        return handle(node, call, route.endpoint.open ? 'guests' : 'api', () => {
          take(call)
          return answer(node, route, call)
        })
      })
    }
    methodsOf.set(pattern, [...(methodsOf.get(pattern) ?? []), ...methods])
  }
  for (const [pattern, methods] of methodsOf) {
    app.all(pattern, (event) =>
      handle(node, callOf(event), 'api', (call) => {
        take(call)
        return refuseMethod(call, methods)
      }),
    )
  }
}

/** Responds to `OPTIONS`, and throws `method_not_allowed` for every other method. */
export function refuseMethod(call: Call, methods: readonly string[]): Response {
  const allowed = [...methods, 'OPTIONS']
  if (call.method === 'OPTIONS') return replyOptions(call, allowed)
  const list = allowed.join(', ')
  throw new ErrorWithHeaders('method_not_allowed', `This address allows ${list}.`, [['allow', list]])
}

function answer(node: NodeParts, route: Route, call: Call): Promise<Response> {
  // Authorize before the body is read, so that callers without permission cannot make the node read and parse it.
  authorize(route.endpoint, call.caller)
  return route.endpoint.method === 'GET' ? answerWith(node, route, call) : answerBody(node, route, call)
}

async function answerBody(node: NodeParts, route: Route, call: Call): Promise<Response> {
  const held = node.bodies.begin(limitKeyOf(node, call))
  try {
    return await answerWith(node, route, call, await readPayload(call, route, held))
  } finally {
    held.end()
  }
}

async function answerWith(node: NodeParts, route: Route, call: Call, payload?: Payload): Promise<Response> {
  const key = readIdempotencyKey(call, route)
  const work = route.endpoint.cookie ? performWithCookie : perform
  try {
    if (key === undefined) {
      const given = toAnswer(node, call, route, await work(node, route, call, payload))
      const { port } = node.context.upstreams
      return reply(call, port === undefined ? given : await withFreshness(port, call, route, given))
    }
    return await answerOnce(node, route, call, { key, payload }, () => work(node, route, call, payload))
  } catch (error) {
    if (error instanceof SkillMoved) return replyMoved(call, route, error.fullName)
    throw error
  }
}

async function perform(node: NodeParts, route: Route, call: Call, payload: Payload | undefined): Promise<Result> {
  const input = toInput(call, route, payload)
  const options = toCallOptions(node, call, route, input)
  const counts = options.counts === true
  const asks = counts && call.header('if-none-match') !== null
  const result = await localCall(
    node.registry,
    route.name,
    input,
    call.caller,
    asks ? { ...options, counts: false } : options,
  )
  // A cached copy at the caller is not a download; this is known only when the entity tag can be compared.
  if (!asks || isKnownToCaller(call, etagOf(toAnswer(node, call, route, result)))) return result
  return localCall(node.registry, route.name, input, call.caller, options)
}

async function performWithCookie(node: NodeParts, route: Route, call: Call, payload?: Payload): Promise<Result> {
  call.crossOrigin = false
  requireOwnPage(node, call)
  return moveSession(node, call, await perform(node, route, call, payload))
}

function replyMoved(call: Call, route: Route, fullName: string): Response {
  const location = renameInPath(route, call.params ?? {}, fullName) + (call.url?.search ?? '')
  const cacheControl = call.personal ? 'private, no-store' : 'no-cache'
  return reply(call, { status: 308, body: null, cacheControl, headers: [['location', location]] })
}

/** Tokens are passed only to operations that use them. */
function toCallOptions(node: NodeParts, call: Call, route: Route, input: Record<string, unknown>): CallOptions {
  const agentToken = call.header('x-agent-token') ?? undefined
  const caseToken = call.header('x-case-token') ?? undefined
  const shareToken = call.header('x-share-token') ?? undefined
  if (agentToken !== undefined || caseToken !== undefined || shareToken !== undefined) call.personal = true
  const counts = route.counts(input) && call.method !== 'HEAD' && call.header('x-skills-update-check') !== '1'
  // Other reads are limited by the request rate alone.
  const needsAddress = counts || route.endpoint.method !== 'GET'
  const address = needsAddress ? toLimitKey(node.addresses.clientOf(call.request)) : undefined
  const sessionToken = route.endpoint.cookie ? readSessionToken(node, call) : undefined
  return { counts, client: toClientName(call), address, agentToken, caseToken, shareToken, sessionToken }
}

/** The name of the calling program: its own header, or the product of its User-Agent (RFC 9110, section 10.1.5). */
export function toClientName(call: Call): string | undefined {
  const named = call.header('x-skillstead-client')?.trim()
  if (named) return named
  return /^[\w!#$%&'*+.^`|~-]+/.exec(call.header('user-agent') ?? '')?.[0]
}
