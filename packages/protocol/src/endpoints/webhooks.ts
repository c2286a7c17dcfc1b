import * as v from 'valibot'
import type { Endpoints } from '../endpoint.ts'
import { limits } from '../limits.ts'
import { NoContent, Term, boundedArray, limit, page, text } from '../schemas/fields.ts'

const id = { id: Term }
const Unspecified = v.record(v.string(), v.unknown())
const eventNames = [
  'skill.published',
  'skill.downloaded',
  'skill.starred',
  'skill.review.created',
  'skill.issue.created',
  'user.followed',
] as const
const Events = boundedArray(v.picklist(eventNames), eventNames.length, 1)
const WebhookUrl = v.pipe(v.string(), v.url(), v.startsWith('https://', 'must be an https address'), v.maxLength(2000))

/** Webhooks (specification 4.9). */
export const webhookEndpoints = {
  listWebhooks: {
    method: 'GET',
    path: '/webhooks',
    auth: 'key',
    scope: 'manage',
    plan: 'pro',
    tag: 'Webhooks',
    summary: 'List your webhooks',
    input: v.object({ page, limit: limit() }),
    output: Unspecified,
  },
  createWebhook: {
    method: 'POST',
    path: '/webhooks',
    auth: 'key',
    scope: 'manage',
    plan: 'pro',
    status: 201,
    tag: 'Webhooks',
    summary: 'Make a webhook',
    input: v.strictObject({
      url: WebhookUrl,
      events: Events,
      secret: v.optional(text(200)),
      skills: v.optional(v.nullable(boundedArray(Term, limits.webhookSkillsMax))),
    }),
    output: Unspecified,
  },
  getWebhook: {
    method: 'GET',
    path: '/webhooks/:id',
    auth: 'key',
    scope: 'manage',
    plan: 'pro',
    tag: 'Webhooks',
    summary: 'Show a webhook with its deliveries',
    input: v.object(id),
    output: Unspecified,
  },
  updateWebhook: {
    method: 'PATCH',
    path: '/webhooks/:id',
    auth: 'key',
    scope: 'manage',
    plan: 'pro',
    tag: 'Webhooks',
    summary: 'Change a webhook',
    input: v.strictObject({
      ...id,
      url: v.optional(WebhookUrl),
      events: v.optional(Events),
      active: v.optional(v.boolean()),
      skills: v.optional(v.nullable(boundedArray(Term, limits.webhookSkillsMax))),
      secret: v.optional(text(200)),
    }),
    output: Unspecified,
  },
  deleteWebhook: {
    method: 'DELETE',
    path: '/webhooks/:id',
    auth: 'key',
    scope: 'manage',
    plan: 'pro',
    status: 204,
    tag: 'Webhooks',
    summary: 'Delete a webhook',
    input: v.strictObject(id),
    output: NoContent,
  },
  retryDelivery: {
    method: 'POST',
    path: '/webhooks/:id/deliveries/:deliveryId/retry',
    auth: 'key',
    scope: 'manage',
    plan: 'pro',
    status: 202,
    tag: 'Webhooks',
    summary: 'Try a delivery again at once',
    input: v.strictObject({ ...id, deliveryId: Term }),
    output: Unspecified,
  },
  pingWebhook: {
    method: 'POST',
    path: '/webhooks/:id/ping',
    auth: 'key',
    scope: 'manage',
    plan: 'pro',
    status: 202,
    tag: 'Webhooks',
    summary: 'Send a test delivery',
    input: v.strictObject(id),
    output: Unspecified,
  },
} as const satisfies Endpoints
