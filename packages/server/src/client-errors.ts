import { STATUS_CODES, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { RegistryError, toProblem, type ErrorCode } from '@skillstead/protocol'
import { guest } from '@skillstead/core'
import { toRequestId } from './call.ts'
import type { NodeOptions } from './options.ts'
import { createQuotas } from './quotas.ts'
import { quotaHeaders } from './replies.ts'

/** What is refused before it is a request, as what a caller is told. */
export interface Refusal {
  readonly code: ErrorCode
  readonly status: number
  readonly detail: string
}

/** What Node's HTTP parser refuses; everything else is a malformed request. */
const refusals: Record<string, Refusal> = {
  HPE_HEADER_OVERFLOW: { code: 'invalid_request', status: 431, detail: 'The headers are too large.' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    code: 'payload_too_large',
    status: 413,
    detail: 'The extensions of the chunks are too large.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { code: 'invalid_request', status: 408, detail: 'The request took too long to arrive.' },
}
const malformed: Refusal = { code: 'invalid_request', status: 400, detail: 'The request is not valid HTTP.' }
/** So long the last answer of a connection may take to be read; then it ends whatever the other side does. */
const lingerMs = 1000

/** Answers on a connection that has no request, and ends it. */
export type Refuse = (socket: Duplex, refusal: Refusal) => Promise<void>

/**
 * Refuses with the same headers and the same form as everything else. Nothing is known of the caller then, so the
 * allowance is the whole one of a guest.
 */
export function createRefuse({ rates, publicUrl }: Pick<NodeOptions, 'rates' | 'publicUrl'>): Refuse {
  const quotas = createQuotas({ rates })
  return async function refuse(socket, { code, status, detail }) {
    const requestId = toRequestId(undefined)
    const body = JSON.stringify({ ...toProblem(new RegistryError(code, detail), requestId), status })
    const quota = await quotas.peek(guest, () => 'unknown')
    const [reset, policy, left] = quotaHeaders(quota)
    socket.on('error', () => undefined)
    socket.end(
      [
        `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
        'content-type: application/problem+json',
        `content-length: ${Buffer.byteLength(body)}`,
        `x-request-id: ${requestId}`,
        `x-ratelimit-limit: ${quota.limit}`,
        `x-ratelimit-remaining: ${quota.remaining}`,
        `x-ratelimit-reset: ${reset}`,
        `ratelimit-policy: ${policy}`,
        `ratelimit: ${left}`,
        ...(status === 429 || status === 503 ? ['retry-after: 5'] : []),
        'cache-control: private, no-store',
        ...(publicUrl === undefined ? [] : ['access-control-allow-origin: *']),
        'x-content-type-options: nosniff',
        'connection: close',
        '',
        body,
      ].join('\r\n'),
    )
    // What is still sent is read away, for a connection that ends with unread bytes takes the answer with it.
    socket.resume()
    setTimeout(() => socket.destroy(), lingerMs).unref()
  }
}

/** Answers what never became a request, behind the answers that the same connection still waits for. */
export function clientErrorHandler(refuse: Refuse) {
  return async function onClientError(error: NodeJS.ErrnoException, socket: Duplex): Promise<void> {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
    for (let answering = answeringOn(socket); answering; answering = answeringOn(socket)) {
      // Of a request whose body will never be whole nothing more comes, unless its answer has begun.
      if (!answering.req.complete && !answering.headersSent) break
      if (!answering.req.complete) return void socket.destroy()
      const answered = answering
      await new Promise((resolve) => answered.once('close', resolve))
    }
    if (!socket.writable) return void socket.destroy()
    await refuse(socket, refusals[error.code ?? ''] ?? malformed)
  }
}

/** Node keeps the answer that a connection is busy with there, as its own handling of these errors goes by it. */
function answeringOn(socket: Duplex): ServerResponse | undefined {
  return (Reflect.get(socket, '_httpMessage') as ServerResponse | null | undefined) ?? undefined
}
