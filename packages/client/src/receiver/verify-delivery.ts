import { isRecord } from '@skillstead/protocol/wire'
import { type WebhookEvent, eventNames, isWebhookEvent, parseForeignJson, pingEvent } from '@skillstead/protocol'
import { isServiceSigned, isStandardSigned, parseSignatures, toSignedContent, type SecretKeys } from './signatures.ts'
import { WebhookError } from './webhook-error.ts'

/** The rules for verifying a delivery. */
export interface Rules {
  readonly keys: readonly SecretKeys[]
  readonly toleranceSeconds: number
  /** The current time in seconds since the epoch. */
  readonly now: number
  readonly serviceSignatureAlone: boolean
}

type Bytes = Uint8Array<ArrayBuffer>

/** The event of a delivery that the registry signed recently and whose headers and body agree. Throws WebhookError. */
export async function verifyDelivery(rules: Rules, headers: WebhookHeaders, body: Bytes): Promise<WebhookEvent> {
  const isAlone = rules.serviceSignatureAlone && !standardHeaders.some((name) => findHeader(headers, name))
  const id = isAlone ? undefined : await requireStandard(rules, headers, body)
  await requireService(rules, headers, body)
  const event = parseEvent(body)
  const told = findHeader(headers, 'x-service-event')
  if (id !== undefined && id !== event.id)
    throw new WebhookError('malformed', 'The webhook-id differs from the id in the body.')
  if (told !== undefined && told !== event.event) {
    throw new WebhookError('malformed', 'The X-Service-Event differs from the event in the body.')
  }
  return event
}

const standardHeaders = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const

/** Verifies the Standard Webhooks headers. Returns the `webhook-id`, which the signature covers. */
async function requireStandard({ keys, ...rules }: Rules, headers: WebhookHeaders, body: Bytes): Promise<string> {
  const [id = '', timestamp = '', signature = ''] = standardHeaders.map((name) => getHeader(headers, name))
  requireRecent(rules, timestamp)
  const content = toSignedContent(id, timestamp, body)
  if (await isStandardSigned(keys, parseSignatures(signature), content)) return id
  throw new WebhookError('bad_signature', 'No signature in webhook-signature is valid.')
}

function requireRecent({ now, toleranceSeconds }: Omit<Rules, 'keys'>, timestamp: string): void {
  if (!/^\d{1,15}$/.test(timestamp)) {
    throw new WebhookError('malformed', 'The webhook-timestamp is not a number of seconds.')
  }
  const ageSeconds = Math.floor(now) - Number(timestamp)
  // Reject all deliveries if the clock returns NaN.
  if (!(ageSeconds <= toleranceSeconds)) throw new WebhookError('too_old', 'The delivery was signed too long ago.')
  if (!(ageSeconds >= -toleranceSeconds))
    throw new WebhookError('too_new', 'The delivery was signed in the future. Check the clock of this machine.')
}

/**
 * Verifies `X-Service-Signature` (docs/api.md#deliveries). During a rotation the node makes this signature with the new
 * secret only; a receiver with the old secret relies on the second signature of `webhook-signature`.
 */
async function requireService({ keys }: Rules, headers: WebhookHeaders, body: Bytes): Promise<void> {
  const signature = getHeader(headers, 'x-service-signature')
  const isChanging = parseSignatures(findHeader(headers, 'webhook-signature') ?? '').length > 1
  if (isChanging || (await isServiceSigned(keys, signature, body))) return
  throw new WebhookError('bad_signature', 'The X-Service-Signature is not valid.')
}

const knownEvents: ReadonlySet<unknown> = new Set([...eventNames, pingEvent])

/**
 * Parses the body of a delivery. Known events are validated by their schemas; unknown events and additional fields,
 * which a newer registry may send, pass unchanged. Throws `malformed`.
 */
function parseEvent(body: Uint8Array): WebhookEvent {
  const envelope = parseBodyJson(body)
  if (!isEnvelope(envelope)) throw toMalformedError('The body is not an event envelope.')
  if (knownEvents.has(envelope.event) && !isWebhookEvent(envelope)) {
    throw toMalformedError(`The data is not that of the event ${envelope.event}.`)
  }
  return envelope as WebhookEvent
}

function parseBodyJson(body: Uint8Array): unknown {
  try {
    return parseForeignJson(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body))
  } catch (cause) {
    throw toMalformedError('The body is not JSON in UTF-8.', cause)
  }
}

function isEnvelope(value: unknown): value is { id: string; event: string } {
  if (!isRecord(value)) return false
  const { id, event, timestamp, data } = value
  const isNamed = [id, event].every((each) => typeof each === 'string' && each !== '')
  return isNamed && typeof timestamp === 'string' && !Number.isNaN(Date.parse(timestamp)) && isRecord(data)
}

function toMalformedError(message: string, cause?: unknown): WebhookError {
  return new WebhookError('malformed', message, { cause })
}

/** The headers of a request: those of fetch, or a record with names in upper or lower case, such as that of Node. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>

/** A header by its lower-case name; undefined if it is missing or empty. */
function findHeader(headers: WebhookHeaders, name: string): string | undefined {
  const value = isFetchHeaders(headers) ? headers.get(name) : joinHeaderValues(headers, name)
  return value?.trim() || undefined
}

/** Like {@link findHeader}. Throws `missing_header` for a header that is missing or empty. */
function getHeader(headers: WebhookHeaders, name: string): string {
  const value = findHeader(headers, name)
  if (value === undefined) throw new WebhookError('missing_header', `The header ${name} is missing.`)
  return value
}

/** Checks for the method `get` instead of the class, because frameworks have their own Headers classes. */
function isFetchHeaders(headers: WebhookHeaders): headers is Headers {
  return typeof headers.get === 'function'
}

/** Joins the values of a repeated header: the result is an invalid value, or a longer list of signatures. */
function joinHeaderValues(headers: Exclude<WebhookHeaders, Headers>, name: string): string {
  const found = Object.entries(headers).filter(([key]) => key.toLowerCase() === name)
  return found.flatMap(([, value]) => value ?? []).join(' ')
}
