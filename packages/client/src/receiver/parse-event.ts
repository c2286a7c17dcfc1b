import { type WebhookEvent, eventNames, isWebhookEvent, parseForeignJson, pingEvent } from '@skillstead/protocol'
import { WebhookError } from './webhook-error.ts'

const knownEvents: ReadonlySet<unknown> = new Set([...eventNames, pingEvent])

/**
 * Parses the body of a delivery. Known events are validated by their schemas; unknown events and additional fields,
 * which a newer registry may send, pass unchanged. Throws `malformed`.
 */
export function parseEvent(body: Uint8Array): WebhookEvent {
  const envelope = parseJson(body)
  if (!isEnvelope(envelope)) throw malformed('The body is not an event envelope.')
  if (knownEvents.has(envelope.event) && !isWebhookEvent(envelope)) {
    throw malformed(`The data is not that of the event ${envelope.event}.`)
  }
  return envelope as WebhookEvent
}

function parseJson(body: Uint8Array): unknown {
  try {
    return parseForeignJson(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body))
  } catch (cause) {
    throw malformed('The body is not JSON in UTF-8.', cause)
  }
}

function isEnvelope(value: unknown): value is { id: string; event: string } {
  if (!isRecord(value)) return false
  const { id, event, timestamp, data } = value
  const isNamed = [id, event].every((each) => typeof each === 'string' && each !== '')
  return isNamed && typeof timestamp === 'string' && !Number.isNaN(Date.parse(timestamp)) && isRecord(data)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function malformed(message: string, cause?: unknown): WebhookError {
  return new WebhookError('malformed', message, { cause })
}
