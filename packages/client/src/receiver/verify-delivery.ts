import type { WebhookEvent } from '@skillstead/protocol'
import { findHeader, getHeader, type WebhookHeaders } from './headers.ts'
import { parseEvent } from './parse-event.ts'
import { isServiceSigned, isStandardSigned, parseSignatures, toSignedContent, type SecretKeys } from './signatures.ts'
import { WebhookError } from './webhook-error.ts'

/** The rules for verifying a delivery. */
export interface Rules {
  readonly keys: readonly SecretKeys[]
  readonly toleranceSeconds: number
  /** Seconds since the epoch. */
  readonly now: number
  readonly serviceSignatureAlone: boolean
}

type Bytes = Uint8Array<ArrayBuffer>

/** The event of a delivery that the registry signed recently and whose headers and body agree. Throws WebhookError. */
export async function verify(rules: Rules, headers: WebhookHeaders, body: Bytes): Promise<WebhookEvent> {
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

/** Verifies Standard Webhooks headers. Returns the id, which is signed too. */
async function requireStandard({ keys, ...rules }: Rules, headers: WebhookHeaders, body: Bytes): Promise<string> {
  const [id, timestamp, signature] = standardHeaders.map((name) => getHeader(headers, name)) as [string, string, string]
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
  // A clock that returns NaN accepts nothing.
  if (!(ageSeconds <= toleranceSeconds)) throw new WebhookError('too_old', 'The delivery was signed too long ago.')
  if (!(ageSeconds >= -toleranceSeconds)) throw new WebhookError('too_new', 'The delivery was signed in the future.')
}

/**
 * `X-Service-Signature` (specification, section 5.6). During a change of the secret it is made with the new one; a
 * receiver with the old secret cannot verify it and relies on the second signature of `webhook-signature`.
 */
async function requireService({ keys }: Rules, headers: WebhookHeaders, body: Bytes): Promise<void> {
  const signature = getHeader(headers, 'x-service-signature')
  const isChanging = parseSignatures(findHeader(headers, 'webhook-signature') ?? '').length > 1
  if (isChanging || (await isServiceSigned(keys, signature, body))) return
  throw new WebhookError('bad_signature', 'The X-Service-Signature is not valid.')
}
