import type { WebhookEvent } from '@skillstead/protocol'
import { createHandling, createSeen, type Seen, type WebhookHandler } from './handling.ts'
import { type WebhookHeaders, verifyDelivery } from './verify-delivery.ts'
import { importKeys, requireSecrets, type SecretKeys } from './signatures.ts'
import { WebhookError, webhookErrorStatuses, type WebhookErrorCode } from './webhook-error.ts'

/** Options of `createReceiver`. */
export interface ReceiverOptions {
  /** The webhook's secret; several during a change of the secret, or if several webhooks deliver to this receiver. */
  readonly secret: string | readonly string[]
  /** Accepted difference between the time of a signature and now, in seconds. Default: 300. */
  readonly toleranceSeconds?: number
  /** Current time in milliseconds since the epoch. Default: the system clock. */
  readonly now?: () => number
  /** The store of handled event ids. Default: the last 10,000 in memory. */
  readonly seen?: Seen
  /** Maximum size of a body that {@link Receiver.fetch} reads, in bytes. Default: 1 MiB. */
  readonly bodyBytesMax?: number
  /** Called with errors of handlers, for which {@link Receiver.fetch} returns 500. Default: logs to the console. */
  readonly onError?: (error: unknown) => unknown
  /**
   * Accepts deliveries that have `X-Service-Signature` but no Standard Webhooks headers. That signature has no
   * timestamp: an attacker who recorded a delivery can replay it at any time, and only `seen` detects the replay.
   */
  readonly serviceSignatureAlone?: boolean
}

/** The raw body of a request: the signature does not match a body that was parsed and serialized again. */
export type WebhookBody = string | Uint8Array | ArrayBuffer

/** Receives the deliveries of a webhook. */
export interface Receiver {
  /**
   * Verifies a delivery and returns its event. Events unknown to this version are returned too, so add a `default` to a
   * `switch`. Throws {@link WebhookError} for a delivery that the registry did not send, or not recently.
   */
  verify(headers: WebhookHeaders, body: WebhookBody): Promise<WebhookEvent>
  /**
   * Verifies a delivery and handles its event once; returns whether the event was new. A duplicate that arrives during
   * the handling waits for the handler, and fails if the handler fails: no delivery is confirmed before its event was
   * handled. Errors of the handler are rethrown.
   */
  receive(headers: WebhookHeaders, body: WebhookBody, handle: WebhookHandler): Promise<boolean>
  /**
   * Like {@link Receiver.receive}, for servers with the fetch API. Returns 204; a problem (400, 401, 405, 413) for a
   * refused request; and 500 if the handler fails, so that the registry retries.
   */
  fetch(request: Request, handle: WebhookHandler): Promise<Response>
}

const bodyBytesMaxDefault = 1024 * 1024

/**
 * Receives the webhooks of a registry on any platform with fetch and WebCrypto: Node, Deno, workers. Throws a TypeError
 * for an invalid secret or limit.
 *
 * @example
 * const receiver = createReceiver({ secret: 'whsec_...' })
 * export default { fetch: (request) => receiver.fetch(request, async ({ event, data }) => console.log(event, data)) }
 */
export function createReceiver(options: ReceiverOptions): Receiver {
  const { toleranceSeconds = 300, now = Date.now, seen = createSeen(), serviceSignatureAlone = false } = options
  const { bodyBytesMax = bodyBytesMaxDefault, onError = console.error } = options
  const secrets = [options.secret].flat()
  requireSecrets(secrets)
  requireBounds({ toleranceSeconds, bodyBytesMax })
  let keys: Promise<SecretKeys[]> | undefined
  const handleOnce = createHandling(seen)

  const receiver: Receiver = {
    async verify(headers, body) {
      const bytes = toBodyBytes(body)
      keys ??= Promise.all(secrets.map(importKeys))
      const rules = { keys: await keys, toleranceSeconds, now: now() / 1000, serviceSignatureAlone }
      return verifyDelivery(rules, headers, bytes)
    },

    async receive(headers, body, handle) {
      return handleOnce(await receiver.verify(headers, body), handle)
    },

    async fetch(request, handle) {
      if (request.method !== 'POST')
        return toProblemResponse('method_not_allowed', 405, 'Deliveries are sent with POST.', { allow: 'POST' })
      let isVerified = false
      try {
        const event = await receiver.verify(request.headers, await readRequestBody(request, bodyBytesMax))
        isVerified = true
        await handleOnce(event, handle)
        return new Response(null, { status: 204 })
      } catch (error) {
        // A WebhookError that the handler throws is a failure of the handler, not a refused delivery.
        if (!isVerified && error instanceof WebhookError)
          return toProblemResponse(error.code, webhookErrorStatuses[error.code], error.message)
        reportHandlerError(onError, error)
        // The response does not contain the error of the handler. The registry sends the delivery again.
        return toProblemResponse('failed', 500, 'The event was not handled.')
      }
    },
  }
  return receiver
}

/** Throws a TypeError for an invalid limit: comparisons with NaN are false, so NaN would not limit anything. */
function requireBounds(bounds: Readonly<Record<string, number>>): void {
  for (const [name, bound] of Object.entries(bounds)) {
    if (!Number.isFinite(bound) || bound <= 0) throw new TypeError(`${name} must be a number above zero.`)
  }
}

/** Reports an error of the handler. `onError` may fail as well; the response must be sent anyway. */
function reportHandlerError(onError: (error: unknown) => unknown, error: unknown): void {
  const telling = async () => onError(error)
  telling().catch(console.error)
}

function toBodyBytes(body: WebhookBody): Uint8Array<ArrayBuffer> {
  if (typeof body === 'string') return new TextEncoder().encode(body)
  if (body instanceof Uint8Array || body instanceof ArrayBuffer) return new Uint8Array(body)
  throw new TypeError('Pass the raw body of the request, not a parsed one.')
}

function toProblemResponse(
  code: WebhookErrorCode | 'failed' | 'method_not_allowed',
  status: number,
  detail: string,
  headers: Record<string, string> = {},
): Response {
  const problem = { type: 'about:blank', status, detail, code }
  const contentType = { 'content-type': 'application/problem+json' }
  return new Response(JSON.stringify(problem), { status, headers: { ...headers, ...contentType } })
}

const bytesAtFirst = 4096

/**
 * Reads the bytes of a request's body. Throws `too_large` as soon as the body exceeds `bytesMax`, `malformed` if the
 * body is cut off, and a TypeError if the body was read before.
 */
async function readRequestBody(request: Request, bytesMax: number): Promise<Uint8Array<ArrayBuffer>> {
  if (request.bodyUsed || request.body?.locked) {
    throw new TypeError('The body was read before. Pass an unread request, such as a clone.')
  }
  const tooLarge = () => new WebhookError('too_large', `The body is larger than ${bytesMax} bytes.`)
  if (Number(request.headers.get('content-length')) > bytesMax) throw tooLarge()
  let bytes = new Uint8Array(bytesAtFirst)
  let length = 0
  const reader = request.body?.getReader()
  for (let next = await readChunk(reader); next?.value; next = await readChunk(reader)) {
    const end = length + next.value.length
    if (end > bytesMax) throw tooLarge()
    if (end > bytes.length) bytes = growBuffer(bytes, Math.min(2 * end, bytesMax))
    bytes.set(next.value, length)
    length = end
  }
  return bytes.subarray(0, length)
}

async function readChunk(reader: ReadableStreamDefaultReader<Uint8Array> | undefined) {
  try {
    return await reader?.read()
  } catch (cause) {
    throw new WebhookError('malformed', 'The request was aborted before its whole body arrived.', { cause })
  }
}

/** Copies the bytes into a longer buffer: separate chunks would take a hundred bytes each, even for a single byte. */
function growBuffer(bytes: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(length)
  larger.set(bytes)
  return larger
}
