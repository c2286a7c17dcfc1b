import { toJsonSchema } from '@valibot/to-json-schema'
import { WebhookEvent, type Endpoint } from '@skillstead/protocol'

type Json = Record<string, unknown>

/** What the reference uses of JSON Schema. */
export interface JsonSchema {
  readonly type?: string
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly items?: JsonSchema
  readonly anyOf?: readonly JsonSchema[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly maxLength?: number
  readonly format?: string
}
type DeliveryName = WebhookEvent['event']

/** When each event is sent to the owner of a webhook. */
const eventSummaries: Readonly<Record<DeliveryName, string>> = {
  'skill.published': 'A version of a skill that you can see was published',
  'skill.downloaded': 'A skill of yours was downloaded or installed; the count includes this download',
  'skill.recalled': 'Versions of a skill that you may see were recalled, or their recall was ended',
  'skill.starred': 'A skill of yours was starred',
  'skill.review.created':
    'A user or an agent reviewed a skill of yours; a review by an agent has `agentKey` instead of `username`, and no title',
  'skill.issue.created': 'A user opened an issue on a skill of yours',
  'user.followed': 'A user follows you',
  'skill.submitted': 'A version waits for your approval',
  'skill.reviewed': 'A reviewer decided on a version that you submitted',
  'skill.dependency.withdrawn': 'Versions that a skill of yours requires were yanked or recalled',
  'mirror.alarm': 'The sync of an upstream is paused until an administrator decides; sent to administrators only',
  ping: 'You requested a test delivery; it needs no subscription and is not retried',
}

/** The headers of every delivery, in addition to the header with its event. */
const headers: Readonly<Record<string, { description: string; schema: Json }>> = {
  'X-Service-Delivery': {
    description: "The delivery's id, the same in each of its attempts.",
    schema: { format: 'uuid' },
  },
  'X-Service-Signature': {
    description: '`sha256=` and the HMAC-SHA256 of the raw body in lowercase hex, keyed with the whole secret.',
    schema: { pattern: '^sha256=[0-9a-f]{64}$' },
  },
  'webhook-id': {
    description: "The event's id, as in the `id` of the body. Ignore an event whose id you have already processed.",
    schema: { format: 'uuid' },
  },
  'webhook-timestamp': {
    description: 'Time of this attempt, in Unix seconds. Refuse old ones.',
    schema: { pattern: '^[0-9]+$' },
  },
  'webhook-signature': {
    description:
      'Signatures of Standard Webhooks: `v1,` and base64, separated by a space. For one day after a change of the secret both secrets sign.',
    schema: { pattern: '^v1,[A-Za-z0-9+/]+=*( v1,[A-Za-z0-9+/]+=*)*$' },
  },
}

/** A JSON Schema of values as callers send them, or as they receive them. */
export function toOpenapiSchema(schema: Endpoint['input'], typeMode: 'input' | 'output'): Json & JsonSchema {
  const { $schema: _, ...rest } = toJsonSchema(schema, { target: 'draft-2020-12', errorMode: 'ignore', typeMode })
  return rest as Json & JsonSchema
}

/** The events that a node sends to webhooks, as the `webhooks` of an OpenAPI 3.1 document. */
export function toWebhooks(): Json {
  return Object.fromEntries(WebhookEvent.options.map((option) => [option.entries.event.literal, toPathItem(option)]))
}

/** The parameters that {@link toWebhooks} refers to, for `components.parameters`. */
export function toWebhookParameters(): Json {
  return Object.fromEntries(
    Object.entries(headers).map(([name, { description, schema }]) => [
      name,
      toDeliveryHeader(name, description, schema),
    ]),
  )
}

function toPathItem(option: (typeof WebhookEvent.options)[number]): Json {
  const event = option.entries.event.literal
  const schema = toOpenapiSchema(option, 'output')
  return {
    post: {
      operationId: toOperationId(event),
      tags: ['Webhooks'],
      summary: eventSummaries[event],
      security: [],
      parameters: [
        toDeliveryHeader('X-Service-Event', 'The event, as in the body.', { const: event }),
        ...Object.keys(headers).map((name) => ({ $ref: `#/components/parameters/${name}` })),
      ],
      requestBody: { required: true, content: { 'application/json': { schema } } },
      responses: {
        '2XX': { description: 'Delivered, if the response arrives within 5 seconds. Its body is ignored.' },
        default: { description: toDeliveryFailure(event) },
      },
    },
  }
}

function toDeliveryFailure(event: DeliveryName): string {
  const failed = 'Not delivered; the same for a redirect, and for no response within 5 seconds.'
  if (event === 'ping') return failed
  return `${failed} Retried after 1 minute, 5 minutes, 30 minutes and 2 hours, then failed for good.`
}

function toDeliveryHeader(name: string, description: string, schema: Json): Json {
  return { name, in: 'header', required: true, description, schema: { type: 'string', ...schema } }
}

/** `skill.review.created` as `onSkillReviewCreated`. */
function toOperationId(event: string): string {
  return `on${event.replaceAll(/(?:^|\.)([a-z])/g, (_, letter: string) => letter.toUpperCase())}`
}
