import * as v from 'valibot'
import type { Endpoints } from '../endpoint.ts'
import { NoContent, Term, limit, page, pageFields } from '../schemas/fields.ts'
import { Delivery, Webhook, WebhookEvents, WebhookSecret, WebhookSkills, WebhookUrl } from '../schemas/webhook.ts'

const id = { id: Term }
const settings = {
  skills: v.optional(v.nullable(WebhookSkills)),
  secret: v.optional(WebhookSecret),
}

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
    output: v.object({ ...pageFields, webhooks: v.array(Webhook) }),
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
      events: WebhookEvents,
      ...settings,
    }),
    // The secret is shown this once, where the server made it.
    output: v.object({ ...Webhook.entries, secret: v.optional(v.string()) }),
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
    output: v.object({ ...Webhook.entries, deliveries: v.array(Delivery) }),
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
      events: v.optional(WebhookEvents),
      active: v.optional(v.boolean()),
      ...settings,
    }),
    output: Webhook,
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
    output: Delivery,
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
    output: Delivery,
  },
} as const satisfies Endpoints
