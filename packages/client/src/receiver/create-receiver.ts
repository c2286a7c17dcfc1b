import type { WebhookEvent } from '@skillstead/protocol'
import { fail, refuse, refuseMethod } from './answer.ts'
import { createHandling } from './handling.ts'
import type { WebhookHeaders } from './headers.ts'
import { readBody } from './read-body.ts'
import { createSeen, type Seen } from './seen.ts'
import { importKeys, requireSecrets, type SecretKeys } from './signatures.ts'
import { verify } from './verify-delivery.ts'
import { WebhookError } from './webhook-error.ts'

export interface ReceiverOptions {
  /** The webhook's secret; several while it is being changed, or where several webhooks deliver to one place. */
  readonly secret: string | readonly string[]
  /** How long ago, or ahead, a delivery may have been signed: five minutes unless it is said. */
  readonly toleranceSeconds?: number
  /** Milliseconds since the epoch. */
  readonly now?: () => number
  /** What was handled; the last 10,000 events in memory unless it is said. */
  readonly seen?: Seen
  /** Bytes that {@link Receiver.fetch} reads of a body: a mebibyte unless it is said. */
  readonly bodyBytesMax?: number
  /** Hears of the errors of handlers that {@link Receiver.fetch} answers with 500; the console unless it is said. */
  readonly onError?: (error: unknown) => unknown
  /**
   * Lets deliveries through that carry `X-Service-Signature` and nothing of Standard Webhooks. That signature has no
   * time in it: whoever recorded a delivery can send it again at any time, and only `seen` notices.
   */
  readonly serviceSignatureAlone?: boolean
}

/** What is done with an event; a promise is waited for. One that throws is called again at the next delivery. */
export type WebhookHandler = (event: WebhookEvent) => unknown

/** The raw body of a request, as it came: what was parsed and written anew has another signature. */
export type WebhookBody = string | Uint8Array | ArrayBuffer

/** Takes deliveries of a webhook. */
export interface Receiver {
  /**
   * The event of a delivery. One whose name this version does not know comes as it is, so leave a `default` in a
   * `switch`. Throws {@link WebhookError} for what the registry did not send, or not lately.
   */
  verify(headers: WebhookHeaders, body: WebhookBody): Promise<WebhookEvent>
  /**
   * Verifies a delivery and handles its event unless that was done before; answers whether it was new. A delivery that
   * comes while its event is still being handled in this process waits for the end of that, and fails if that fails: so
   * none is answered as done before it is. What the handler throws is thrown as it is.
   */
  receive(headers: WebhookHeaders, body: WebhookBody, handle: WebhookHandler): Promise<boolean>
  /**
   * The same for servers that speak fetch. Answers 204, a problem (400, 401, 405, 413) where the request is refused,
   * and 500 where the handler fails, so that the registry tries again.
   */
  fetch(request: Request, handle: WebhookHandler): Promise<Response>
}

const bodyBytesMaxDefault = 1024 * 1024

/**
 * Receives the webhooks of a registry wherever there are fetch and WebCrypto: Node, Deno, workers. Throws a TypeError
 * for a secret that is none, or a bound.
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
      const bytes = toBytes(body)
      keys ??= Promise.all(secrets.map(importKeys))
      const rules = { keys: await keys, toleranceSeconds, now: now() / 1000, serviceSignatureAlone }
      return verify(rules, headers, bytes)
    },

    async receive(headers, body, handle) {
      return handleOnce(await receiver.verify(headers, body), handle)
    },

    async fetch(request, handle) {
      if (request.method !== 'POST') return refuseMethod()
      let isVerified = false
      try {
        const event = await receiver.verify(request.headers, await readBody(request, bodyBytesMax))
        isVerified = true
        await handleOnce(event, handle)
        return new Response(null, { status: 204 })
      } catch (error) {
        // Handlers verify things, too: what they throw is a failure, never a refusal.
        if (!isVerified && error instanceof WebhookError) return refuse(error)
        tell(onError, error)
        return fail()
      }
    },
  }
  return receiver
}

/** Nothing is greater than what is no number, so that a bound of that kind would be none. */
function requireBounds(bounds: Readonly<Record<string, number>>): void {
  for (const [name, bound] of Object.entries(bounds)) {
    if (!Number.isFinite(bound) || bound <= 0) throw new TypeError(`${name} must be a number above zero.`)
  }
}

/** Who hears of errors may fail as well; an answer is due all the same. */
function tell(onError: (error: unknown) => unknown, error: unknown): void {
  const telling = async () => onError(error)
  telling().catch(console.error)
}

function toBytes(body: WebhookBody): Uint8Array<ArrayBuffer> {
  if (typeof body === 'string') return new TextEncoder().encode(body)
  if (body instanceof Uint8Array || body instanceof ArrayBuffer) return new Uint8Array(body)
  throw new TypeError('Give the raw body of the request, not what was parsed from it.')
}
