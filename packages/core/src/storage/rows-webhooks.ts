/** Who is told of what happens. */
export interface WebhookTables {
  webhooks: WebhookRow
  /** What each active webhook subscribes to: the events of the row, so that subscribers are found by event. */
  webhook_subscriptions: { event: string; user_id: string; webhook_id: string }
}

export interface WebhookRow {
  id: string
  user_id: string
  url: string
  /** JSON of names of events. */
  events: string
  /** JSON of full names and `owner/*`; null where it is about every skill. */
  skills: string | null
  secret: string
  /** The secret before, which deliveries are still signed with until a time. */
  previous_secret: string | null
  previous_until: number | null
  active: number
  /** Deliveries that failed since the last that did not. */
  failed_run: number
  created_at: number
  updated_at: number
}
