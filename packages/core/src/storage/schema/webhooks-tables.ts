import { keyedTable, optional, primary, table, text, to, whole, zero } from './columns.ts'

/** Webhooks and the events that they subscribe to. */
export const webhookTables = {
  webhooks: table({
    id: primary(text),
    user_id: to('users.id'),
    url: text,
    /** Event names as a JSON list. */
    events: text,
    /** Full names and `owner/*` as a JSON list; null for all skills. */
    skills: optional(text),
    secret: text,
    /** The previous secret, which also signs deliveries until `previous_until`. */
    previous_secret: optional(text),
    previous_until: optional(whole),
    active: whole,
    /** Number of deliveries that failed since the last success. */
    failed_run: zero,
    created_at: whole,
    updated_at: whole,
  }).index('webhooks_user', ['user_id', 'id']),
  /** The events of each active webhook, so that subscribers can be found by event. */
  webhook_subscriptions: keyedTable({
    event: text,
    user_id: to('users.id'),
    webhook_id: to('webhooks.id', { isCascading: true }),
  })
    .key(['event', 'user_id', 'webhook_id'])
    .index('webhook_subscriptions_webhook', ['webhook_id']),
}
