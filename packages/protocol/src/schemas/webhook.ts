import * as v from 'valibot'
import { eventNames, pingEvent } from './events.ts'
import { limits } from '../limits.ts'
import { namePattern } from '../names.ts'
import { Count, Id, Timestamp, boundedArray, boundedText } from './fields.ts'

/** The states of a delivery (docs/api.md#deliveries). */
const deliveryStatuses = ['pending', 'delivered', 'failed'] as const
const DeliveryStatus = v.picklist(deliveryStatuses)

/** URL that a webhook delivers to: https, without a user name or a password. */
export const WebhookUrl = v.pipe(
  boundedText(2000, 0),
  v.url('must be an https URL'),
  v.check((url) => !URL.canParse(url) || new URL(url).protocol === 'https:', 'must be an https URL'),
)

/** The events that a webhook subscribes to: at least one, without duplicates. */
export const WebhookEvents = v.pipe(
  boundedArray(v.picklist(eventNames), eventNames.length, 1),
  // A list that is too long gets one error, without a second error for its duplicates.
  v.check(
    (events) => events.length > eventNames.length || new Set(events).size === events.length,
    'must not name an event twice',
  ),
)

/** Skills that a webhook covers: full names, or `owner/*` for all of an owner; at least one. */
export const WebhookSkills = boundedArray(
  v.pipe(v.string(), v.maxLength(128), v.check(isSkillPattern, 'must be owner/name or owner/*')),
  limits.webhookSkillsMax,
  1,
)

/** Key that signs deliveries; base64 after `whsec_`, as Standard Webhooks defines secrets. */
export const WebhookSecret = v.pipe(boundedText(200), v.check(isSecret, 'must be base64 after whsec_'))

/** A webhook, without its secret. `skills` is null if it covers every skill. */
export const Webhook = v.object({
  id: Id,
  url: v.string(),
  events: v.array(v.picklist(eventNames)),
  skills: v.nullable(v.array(v.string())),
  active: v.boolean(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  /** The newest delivery; `at`: the time of its last attempt, or of its creation if there was no attempt. */
  lastDelivery: v.nullable(v.object({ status: DeliveryStatus, at: Timestamp })),
})
export type Webhook = v.InferOutput<typeof Webhook>

/** One attempt of a delivery. `statusCode` is null if there was no response; `error` is null after a 2xx status. */
const DeliveryAttempt = v.object({
  number: Count,
  at: Timestamp,
  statusCode: v.nullable(v.number()),
  durationMs: v.number(),
  error: v.nullable(v.string()),
})

/** A delivery of an event to a webhook, with its attempts. */
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

/** A delivery with its body: the exact JSON text that the signatures cover. */
export const DeliveryDetails = v.object({ ...Delivery.entries, body: v.string() })
export type DeliveryDetails = v.InferOutput<typeof DeliveryDetails>

function isSkillPattern(pattern: string): boolean {
  const [owner = '', name = '', ...rest] = pattern.split('/')
  return rest.length === 0 && namePattern.test(owner) && (name === '*' || namePattern.test(name))
}

function isSecret(secret: string): boolean {
  return !secret.startsWith('whsec_') || base64.test(secret.slice('whsec_'.length))
}

const base64 = /^(?=.)(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
