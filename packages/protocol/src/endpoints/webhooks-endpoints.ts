import * as v from 'valibot'
import { toEndpoints } from '../endpoint.ts'
import { NoContent, Term, pageLimit, page, pageFields } from '../schemas/fields.ts'
import {
  Delivery,
  DeliveryDetails,
  Webhook,
  WebhookEvents,
  WebhookSecret,
  WebhookSkills,
  WebhookUrl,
} from '../schemas/webhook.ts'

const id = { id: Term }
const settings = {
  skills: v.optional(v.nullable(WebhookSkills)),
  secret: v.optional(WebhookSecret),
}

/** Webhooks (docs/api.md#webhooks-of-a-user). */
export const webhookEndpoints = toEndpoints('Webhooks', {
  listWebhooks: {
    auth: 'key',
    scope: 'manage',
    plan: 'pro',
    summary: 'List your webhooks',
    input: v.object({ page, limit: pageLimit() }),
    output: v.object({ ...pageFields, webhooks: v.array(Webhook) }),
  },
  createWebhook: {
    auth: 'key',
    scope: 'manage',
    plan: 'pro',
    status: 201,
    summary: 'Create a webhook',
    input: v.strictObject({
      url: WebhookUrl,
      events: WebhookEvents,
      ...settings,
    }),
    // `secret` is present only if the server generated it; no later response contains the secret.
    output: v.object({ ...Webhook.entries, secret: v.optional(v.string()) }),
  },
  getWebhook: {
    auth: 'key',
    scope: 'manage',
    plan: 'pro',
    summary: 'Show a webhook and its deliveries',
    input: v.object(id),
    output: v.object({ ...Webhook.entries, deliveries: v.array(Delivery) }),
  },
  updateWebhook: {
    auth: 'key',
    scope: 'manage',
    plan: 'pro',
    summary: 'Update a webhook',
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
    auth: 'key',
    scope: 'manage',
    plan: 'pro',
    status: 204,
    summary: 'Delete a webhook',
    input: v.strictObject(id),
    output: NoContent,
  },
  getDelivery: {
    auth: 'key',
    scope: 'manage',
    plan: 'pro',
    summary: 'Show a delivery and its body',
    input: v.object({ ...id, deliveryId: Term }),
    output: DeliveryDetails,
  },
  retryDelivery: {
    auth: 'key',
    scope: 'manage',
    plan: 'pro',
    status: 202,
    summary: 'Retry a delivery now',
    input: v.strictObject({ ...id, deliveryId: Term }),
    output: Delivery,
  },
  pingWebhook: {
    auth: 'key',
    scope: 'manage',
    plan: 'pro',
    status: 202,
    summary: 'Send a test delivery',
    input: v.strictObject(id),
    output: Delivery,
  },
})
