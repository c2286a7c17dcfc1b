import { STATUS_CODES, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { RegistryError, toProblem, type ErrorCode } from '@skillstead/protocol'
import { guest } from '@skillstead/core'
import { toRequestId } from '../context/call.ts'
import type { NodeOptions } from '../context/options.ts'
import { createQuotas } from '../context/quotas.ts'
import { quotaHeaders } from '../replies/replies.ts'

/** The content of the error response to data that is not a valid request. */
export interface Refusal {
  readonly code: ErrorCode
  readonly status: number
  readonly detail: string
}

/** Responses to errors of Node's HTTP parser, by error code. Other errors are reported as a malformed request. */
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
/** Time for the client to read the last response before the connection is closed, in milliseconds. */
const lingerMs = 1000

/** Sends an error response on a connection without a valid request, and closes the connection. */
export type Refuse = (socket: Duplex, refusal: Refusal) => Promise<void>

/**
 * Sends the refusal with the same headers and format as other errors. The caller is unknown, so the rate headers show
 * the full allowance of a guest.
 */
export function createRefuse({ rates, publicUrl }: Pick<NodeOptions, 'rates' | 'publicUrl'>): Refuse {
  const quotas = createQuotas({ rates })
  return async function refuse(socket, { code, status, detail }) {
    const requestId = toRequestId(undefined)
    const body = JSON.stringify({ ...toProblem(new RegistryError(code, detail), requestId), status })
    const quota = await quotas.peek(guest, () => 'unknown')
    socket.on('error', () => undefined)
    socket.end(
      [
        `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
        'content-type: application/problem+json',
        `content-length: ${Buffer.byteLength(body)}`,
        `x-request-id: ${requestId}`,
        ...quotaHeaders(quota).map(([name, value]) => `${name}: ${value}`),
        ...(status === 429 || status === 503 ? ['retry-after: 5'] : []),
        'cache-control: private, no-store',
        ...(publicUrl === undefined ? [] : ['access-control-allow-origin: *']),
        'x-content-type-options: nosniff',
        'connection: close',
        '',
        body,
      ].join('\r\n'),
    )
    // Read and discard further data: closing a connection with unread bytes would discard the response as well.
    socket.resume()
    setTimeout(() => socket.destroy(), lingerMs).unref()
  }
}

/** Responds to data that is not a valid request, after the pending responses of the connection. */
export function clientErrorHandler(refuse: Refuse) {
  return async function onClientError(error: NodeJS.ErrnoException, socket: Duplex): Promise<void> {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
    for (let answering = answeringOn(socket); answering; answering = answeringOn(socket)) {
      // Do not wait for the response to the request with the invalid body: it gets the refusal, or the connection is
      // closed if its own response has begun.
      if (!answering.req.complete && !answering.headersSent) break
      if (!answering.req.complete) return void socket.destroy()
      const answered = answering
      await new Promise((resolve) => answered.once('close', resolve))
    }
    if (!socket.writable) return void socket.destroy()
    await refuse(socket, refusals[error.code ?? ''] ?? malformed)
  }
}

/** The response that the connection is sending. Node stores the response at the socket for its own error handling. */
function answeringOn(socket: Duplex): ServerResponse | undefined {
  const response: unknown = Reflect.get(socket, '_httpMessage')
  return response instanceof ServerResponse ? response : undefined
}
