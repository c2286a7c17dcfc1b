import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { RegistryError, toProblem, type ErrorCode } from '@skillstead/protocol'
import { guest } from '@skillstead/core'
import { toRequestId } from './call.ts'
import type { NodeOptions } from './options.ts'
import { createQuotas } from './quotas.ts'
import { quotaHeaders } from './replies.ts'

/** What Node's HTTP parser refuses, as what a caller is told; everything else is a malformed request. */
const refusals: Record<string, { code: ErrorCode; status: number; detail: string }> = {
  HPE_HEADER_OVERFLOW: { code: 'invalid_request', status: 431, detail: 'The headers are too large.' },
  ERR_HTTP_REQUEST_TIMEOUT: { code: 'invalid_request', status: 408, detail: 'The request took too long to arrive.' },
}
const malformed = { code: 'invalid_request', status: 400, detail: 'The request is not valid HTTP.' } as const

/**
 * Answers what never became a request, with the same headers and the same form as everything else. Nothing is known
 * of the caller then, so the allowance is the whole one of a guest.
 */
export function clientErrorHandler(rates: NodeOptions['rates']) {
  const quotas = createQuotas({ rates })
  return async function onClientError(error: NodeJS.ErrnoException, socket: Duplex): Promise<void> {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
    const { code, status, detail } = refusals[error.code ?? ''] ?? malformed
    const requestId = toRequestId(undefined)
    const body = JSON.stringify({ ...toProblem(new RegistryError(code, detail), requestId), status })
    const quota = await quotas.peek(guest, () => 'unknown')
    const [reset, policy, left] = quotaHeaders(quota)
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
        'cache-control: private, no-store',
        'access-control-allow-origin: *',
        'x-content-type-options: nosniff',
        'connection: close',
        '',
        body,
      ].join('\r\n'),
    )
  }
}
