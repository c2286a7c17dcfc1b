import { RegistryError, allowances, type AllowanceName } from '@skillstead/protocol'
import type { GatewayRoute, Header } from '@skillstead/gateways'
import { toOwnCall, type Call } from '../context/call.ts'
import type { NodeParts } from '../context/node-parts.ts'
import type { Quota } from '../context/quotas.ts'
import { replyOptions, replyProblem, toErrorHeaders, toPublicError } from '../replies/replies.ts'
import { admitCall, admitsEveryone, type EntryAdmission } from './admit.ts'
import { foreignPage, judgeOrigin } from './cross-origin.ts'

/** An error whose response has additional headers, such as `Allow` with 405. */
class ErrorWithHeaders extends RegistryError {
  readonly headers: readonly Header[]

  constructor(code: 'method_not_allowed', detail: string, headers: readonly Header[]) {
    super(code, detail)
    this.headers = headers
  }
}

/** Responds with a page that shows why the requested page is not available. */
type ReplyErrorPage = (
  call: Call,
  status: number,
  page: { readonly problem: { readonly reason: string; readonly headers: readonly Header[] } },
) => Promise<Response>

/** A route: how its requests are admitted and handled. */
interface Entry {
  readonly admission: EntryAdmission
  /** The name of the endpoint in logs and metrics. Default: `unknown`. */
  readonly endpoint?: string
  /** The allowed methods; requests with other methods get 405. Default: all. */
  readonly methods?: readonly string[]
  /** The methods that only read. Default: GET and HEAD. */
  readonly readMethods?: readonly string[] | undefined
  /** Whether pages of allowed other origins may read the response. Default: true. */
  readonly crossOrigin?: boolean
  /** The abuse limits of the endpoint. */
  readonly allowances?: readonly AllowanceName[] | undefined
  /** Whether the URL itself is a credential, so that no key is needed and caches must not store the response. */
  readonly personal?: boolean
  /** The scheme of the `Authorization` header. Default: `bearer`. */
  readonly scheme?: GatewayRoute['scheme'] | undefined
  /** The form of errors. Default: problem documents. */
  readonly toFailure?: GatewayRoute['toFailure'] | undefined
  /** Shows errors to browsers as a page. Default: browsers get the same errors as programs. */
  readonly replyPage?: ReplyErrorPage | undefined
  work(call: Call): Response | Promise<Response>
}

/**
 * Makes an h3 handler that admits a request, runs the work of the entry, and converts thrown errors to problem
 * responses. Every response to a valid request passes through such a handler, or is sent by `serveCached`, so that it
 * has rate headers, a request id, a log line and metrics.
 */
export function toHandler(node: NodeParts, entry: Entry) {
  const { admission, endpoint = 'unknown', methods, crossOrigin = true, personal = false, work } = entry
  const { readMethods = ['GET', 'HEAD'], scheme = 'bearer', toFailure } = entry
  return async function handle(event: { readonly context: object; readonly url?: URL }): Promise<Response> {
    const call = toOwnCall(event.context)
    call.url = event.url
    call.endpoint = endpoint
    call.crossOrigin = crossOrigin
    call.personal = personal
    call.allowances = entry.allowances ?? []
    let response: Response
    try {
      if (node.draining && !admitsEveryone(admission)) {
        throw new RegistryError('shutting_down', 'The node is shutting down; try again in a moment.')
      }
      const needsKey = !admitsEveryone(admission) && judgeOrigin(node, call, readMethods)
      const waiting = admitCall(node, call, { admission, scheme, needsKey })
      if (waiting) await waiting
      if (needsKey && call.caller.kind === 'guest') throw foreignPage()
      const isRefused = methods !== undefined && !methods.includes(call.method)
      response = isRefused ? refuseCallMethod(call, methods) : await work(call)
    } catch (thrown) {
      response = await replyThrown(node, call, thrown, toFailure, entry.replyPage)
    }
    finishCall(node, call, response.status)
    return response
  }
}

/** The response for a thrown error. */
export async function replyThrown(
  node: NodeParts,
  call: Call,
  thrown: unknown,
  toFailure?: GatewayRoute['toFailure'],
  replyPage?: ReplyErrorPage,
): Promise<Response> {
  const error = toPublicError(thrown)
  if (error.status >= 500) node.log.failure(call, error)
  if (error.allowance) call.quota = toAllowanceQuota(error.allowance, error.retryAfterSeconds)
  call.quota ??= await node.quotas.peek(call.caller, () => node.addresses.clientOf(call.request))
  if (replyPage && isForPeople(call))
    return replyPage(call, error.status, { problem: { reason: error.message, headers: toErrorHeaders(error) } })
  return replyProblem(call, error, thrown instanceof ErrorWithHeaders ? thrown.headers : undefined, toFailure)
}

/** Whether the request is from a browser that opens a page, by its `Accept` header. */
export function isForPeople(call: Call): boolean {
  return (call.method === 'GET' || call.method === 'HEAD') && (call.header('accept') ?? '').includes('text/html')
}

/** Counts and logs a request that was handled. */
export function finishCall(node: NodeParts, call: Call, status: number): void {
  node.metrics.end(call, status)
  try {
    node.log.answered(call, status)
  } catch (error) {
    // The response to a request that cannot be logged is not sent.
    const res = call.request.runtime?.node?.res
    if (!res) throw error
    res.destroy(error as Error)
  }
}

/** Responds to `OPTIONS`, and throws `method_not_allowed` for every other method. */
export function refuseCallMethod(call: Call, methods: readonly string[]): Response {
  const allowed = [...methods, 'OPTIONS']
  if (call.method === 'OPTIONS') return replyOptions(call, allowed)
  const list = allowed.join(', ')
  throw new ErrorWithHeaders('method_not_allowed', `This address allows ${list}.`, [['allow', list]])
}

/** The quota of the abuse limit that the caller reached, which the response shows in place of the plan's allowance. */
function toAllowanceQuota(policy: AllowanceName, resetSeconds = 0): Quota {
  const { limit, windowSeconds } = allowances[policy]
  return { policy, limit, windowSeconds, remaining: 0, resetSeconds, exceeded: true }
}
