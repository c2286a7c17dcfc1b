import * as v from 'valibot'
import { eventNames, pingEvent } from './events.ts'
import { limits } from '../limits.ts'
import { namePattern } from '../names.ts'
import { Count, Id, Timestamp, boundedArray, text } from './fields.ts'

export const deliveryStatuses = ['pending', 'delivered', 'failed'] as const
const DeliveryStatus = v.picklist(deliveryStatuses)

/** Where a webhook delivers to: an https address without a user name or a password. */
export const WebhookUrl = v.pipe(
  text(2000, 0),
  v.url('must be an https address'),
  v.check((url) => !URL.canParse(url) || new URL(url).protocol === 'https:', 'must be an https address'),
)

/** The events that a webhook subscribes to: one at least, and none twice. */
export const WebhookEvents = v.pipe(
  boundedArray(v.picklist(eventNames), eventNames.length, 1),
  // Too many are told so, and not also that some of them must be the same.
  v.check((events) => events.length > eventNames.length || isEachOnce(events), 'must not name an event twice'),
)

/** Skills that a webhook is about: full names, or `owner/*` for all of an owner; one at least. */
export const WebhookSkills = boundedArray(
  v.pipe(v.string(), v.maxLength(128), v.check(isSkillPattern, 'must be owner/name or owner/*')),
  limits.webhookSkillsMax,
  1,
)

/** What deliveries are signed with; after `whsec_` stands base64, as Standard Webhooks writes secrets. */
export const WebhookSecret = v.pipe(text(200), v.check(isSecret, 'must have base64 after whsec_'))

/** A webhook, without its secret. `skills` is null where it is about every skill. */
export const Webhook = v.object({
  id: Id,
  url: v.string(),
  events: v.array(v.picklist(eventNames)),
  skills: v.nullable(v.array(v.string())),
  active: v.boolean(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  /** The newest delivery: when it was last tried, or made where it was not tried yet. */
  lastDelivery: v.nullable(v.object({ status: DeliveryStatus, at: Timestamp })),
})
export type Webhook = v.InferOutput<typeof Webhook>

/** One try of a delivery. `statusCode` is null where there was no answer; `error` says why, and is null after a 2xx. */
const DeliveryAttempt = v.object({
  number: Count,
  at: Timestamp,
  statusCode: v.nullable(v.number()),
  durationMs: v.number(),
  error: v.nullable(v.string()),
})

export const Delivery = v.object({
  id: Id,
  eventId: Id,
  event: v.picklist([...eventNames, pingEvent]),
  status: DeliveryStatus,
  attempts: v.array(DeliveryAttempt),
  nextAttemptAt: v.nullable(Timestamp),
  createdAt: Timestamp,
})
export type Delivery = v.InferOutput<typeof Delivery>

/** A delivery with what is sent: the JSON text that the signatures are about, to the byte. */
export const DeliveryDetails = v.object({ ...Delivery.entries, body: v.string() })
export type DeliveryDetails = v.InferOutput<typeof DeliveryDetails>

function isSkillPattern(pattern: string): boolean {
  const [owner = '', name = '', ...rest] = pattern.split('/')
  return rest.length === 0 && namePattern.test(owner) && (name === '*' || namePattern.test(name))
}

function isEachOnce(events: readonly string[]): boolean {
  return new Set(events).size === events.length
}

function isSecret(secret: string): boolean {
  return !secret.startsWith('whsec_') || base64.test(secret.slice('whsec_'.length))
}

const base64 = /^(?=.)(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
