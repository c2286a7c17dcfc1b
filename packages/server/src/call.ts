import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { H3Event } from 'h3'
import type { ServerRequest } from 'srvx'
import { guest, type Caller } from '@skillstead/core'
import type { AllowanceName } from '@skillstead/protocol'
import type { Quota } from './quotas.ts'

const requestIdPattern = /^[A-Za-z0-9._-]{1,64}$/

/**
 * One request on its way through the node. h3 takes it as the context of its event and writes the matched route's
 * parameters into it; all fields are here from the start, so that every call has one shape.
 */
export class Call {
  readonly request: ServerRequest
  /** As Node read them, where it did: they say at once what is not there. */
  readonly #sent: IncomingHttpHeaders | undefined
  readonly method: string
  /** The caller's own where it is well-formed, so that a trace can go through several systems. */
  readonly requestId: string
  readonly startedAtMs: number
  /** The endpoint's name in logs and metrics: never what a caller typed. */
  endpoint = 'unknown'
  caller: Caller = guest
  /** Whether the answer may hold what is for this caller alone. */
  personal = false
  quota: Quota | undefined = undefined
  /** The limits against abuse of the endpoint. */
  allowances: readonly AllowanceName[] = []
  /** Whether pages from elsewhere may read the answer, where their origin is allowed. */
  crossOrigin = true
  /** Whose pages these are: `*` for all. */
  allowedOrigin: string | undefined = undefined
  /** The path and query as h3 routed them. */
  url: URL | undefined = undefined
  /** Set by h3: the segments of the path by name, still percent-encoded. */
  params: Record<string, string> | undefined = undefined
  /** Set by h3. */
  matchedRoute: unknown = undefined

  constructor(request: ServerRequest) {
    this.request = request
    this.#sent = request.runtime?.node?.req.headers
    this.method = request.method
    this.requestId = toRequestId(this.header('x-request-id'))
    this.startedAtMs = performance.now()
  }

  /** The value of a header, which is asked for in lower case. */
  header(name: Lowercase<string>): string | null {
    if (this.#sent !== undefined && this.#sent[name] === undefined) return null
    return this.request.headers.get(name)
  }
}

/** The call that an h3 event carries as its context. */
export function callOf(event: H3Event): Call {
  const call = event.context as unknown as Call
  call.url = event.url
  return call
}

/** The id a caller proposes, or a new one. */
export function toRequestId(proposed: string | null | undefined): string {
  return proposed && requestIdPattern.test(proposed) ? proposed : randomUUID()
}
