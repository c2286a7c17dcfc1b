import { toJsonSchema } from '@valibot/to-json-schema'
import { WebhookEvent } from '@skillstead/protocol'

type Json = Record<string, unknown>
type DeliveryName = WebhookEvent['event']

/** When each event is sent, for the owner of a webhook. */
export const eventSummaries: Readonly<Record<DeliveryName, string>> = {
  'skill.published': 'A version of a skill that you may see was published',
  'skill.downloaded': 'A skill of yours was downloaded or installed; the count has this one in it',
  'skill.starred': 'A skill of yours was starred',
  'skill.review.created':
    'A user or an agent reviewed a skill of yours; an agent has `agentKey` in place of `username`, and its review no title',
  'skill.issue.created': 'A user opened an issue on a skill of yours',
  'user.followed': 'Somebody follows you',
  'mirror.alarm': 'The sync of an upstream stands still until an administrator decides; administrators alone are told',
  ping: 'You asked for a test delivery; nobody subscribes to it, and it is tried once',
}

/** The headers of every delivery, besides the one that names its event. */
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
    description: "The event's id, the `id` of the body: what came with it before needs no second look.",
    schema: { format: 'uuid' },
  },
  'webhook-timestamp': {
    description: 'When this attempt was made, in Unix seconds. Refuse old ones.',
    schema: { pattern: '^[0-9]+$' },
  },
  'webhook-signature': {
    description:
      'Signatures as in Standard Webhooks, `v1,` and base64, with a space between two: for a day after a change of the secret both sign.',
    schema: { pattern: '^v1,[A-Za-z0-9+/]+=*( v1,[A-Za-z0-9+/]+=*)*$' },
  },
}

/** What a node sends to the owners of webhooks, as the `webhooks` of an OpenAPI 3.1 document. */
export function toWebhooks(): Json {
  return Object.fromEntries(WebhookEvent.options.map((option) => [option.entries.event.literal, toPathItem(option)]))
}

/** What {@link toWebhooks} refers to, for `components.parameters`. */
export function toWebhookParameters(): Json {
  return Object.fromEntries(
    Object.entries(headers).map(([name, { description, schema }]) => [name, toHeader(name, description, schema)]),
  )
}

function toPathItem(option: (typeof WebhookEvent.options)[number]): Json {
  const event = option.entries.event.literal
  const { $schema: _, ...schema } = toJsonSchema(option, { errorMode: 'ignore', typeMode: 'output' })
  return {
    post: {
      operationId: toOperationId(event),
      tags: ['Webhooks'],
      summary: eventSummaries[event],
      security: [],
      parameters: [
        toHeader('X-Service-Event', 'The event, as in the body.', { const: event }),
        ...Object.keys(headers).map((name) => ({ $ref: `#/components/parameters/${name}` })),
      ],
      requestBody: { required: true, content: { 'application/json': { schema } } },
      responses: {
        '2XX': { description: 'Taken, if it comes within 5 seconds. What the body says is of no matter.' },
        default: { description: toFailure(event) },
      },
    },
  }
}

function toFailure(event: DeliveryName): string {
  const failed = 'Not taken, as is a redirect, or no answer within 5 seconds.'
  if (event === 'ping') return failed
  return `${failed} Tried again after 1 minute, 5 minutes, 30 minutes and 2 hours, then given up.`
}

function toHeader(name: string, description: string, schema: Json): Json {
  return { name, in: 'header', required: true, description, schema: { type: 'string', ...schema } }
}

/** `skill.review.created` as `onSkillReviewCreated`. */
function toOperationId(event: string): string {
  return `on${event.replaceAll(/(?:^|\.)([a-z])/g, (_, letter: string) => letter.toUpperCase())}`
}
