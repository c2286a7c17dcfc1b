import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { ServerRequest } from 'srvx'
import { guest, type Caller } from '@skillstead/core'
import type { ClientKind } from '@skillstead/core/internal'
import type { AllowanceName } from '@skillstead/protocol'
import type { Quota } from './quotas.ts'

const requestIdPattern = /^[A-Za-z0-9._-]{1,64}$/

/**
 * A request during its processing. h3 takes the call as the context of its event, and writes the matched route's
 * parameters into the call. All fields exist from the start, so that all calls have the same hidden class.
 */
export class Call {
  readonly request: ServerRequest
  /** The headers as Node parsed them, if the request is from Node: they show quickly that a header is missing. */
  readonly #sent: IncomingHttpHeaders | undefined
  readonly method: string
  /**
   * The request id that the caller sent, if well-formed, so that a trace can span several systems; otherwise a new one.
   */
  readonly requestId: string
  readonly startedAtMs: number
  /** The name of the endpoint for logs and metrics; contains no text from the caller. */
  endpoint = 'unknown'
  caller: Caller = guest
  /** Whether the response may contain data for this caller alone, so that caches must not store it. */
  personal = false
  /** The kind of client as which the caller's reads of packages are counted. */
  kind: ClientKind = 'api'
  quota: Quota | undefined = undefined
  /** The abuse limits of the endpoint. */
  allowances: readonly AllowanceName[] = []
  /** Whether pages of allowed other origins may read the response. */
  crossOrigin = true
  /** The origin that may read the response: `*` for all. */
  allowedOrigin: string | undefined = undefined
  /** The key of the response in the cache of public responses; set if the cache had no response for the request. */
  cacheKey: string | undefined = undefined
  /** The path and query as h3 routed them. Undefined if the request target is malformed. */
  url: URL | undefined = undefined
  /** Set by h3: the segments of the path by name, still percent-encoded. */
  params: Record<string, string> | undefined = undefined
  /** The route that h3 matched. */
  matchedRoute: unknown = undefined

  constructor(request: ServerRequest) {
    this.request = request
    this.#sent = request.runtime?.node?.req.headers
    this.method = request.method
    this.requestId = toRequestId(this.header('x-request-id'))
    this.startedAtMs = performance.now()
  }

  /** The value of a header; its name must be in lower case. */
  header(name: Lowercase<string>): string | null {
    if (this.#sent !== undefined && this.#sent[name] === undefined) return null
    return this.request.headers.get(name)
  }
}

/** The call that h3 or a gateway was given, and passes back by a wider type. */
export function toOwnCall(given: unknown): Call {
  if (given instanceof Call) return given
  throw new TypeError('This is not a call of this node. Pass the `call` that the node gave to the gateway.')
}

/** The request id that the caller proposed, or a new one. */
export function toRequestId(proposed: string | null | undefined): string {
  return proposed && requestIdPattern.test(proposed) ? proposed : randomUUID()
}
