import type { CatalogueContext } from '../catalogue/context/catalogue-context.ts'

/** Settings of webhooks. */
export interface WebhookOptions {
  /** A webhook is disabled after this number of consecutive failed deliveries; 0 for never. Default: 20. */
  readonly offAfterFailures?: number
}

/** Dependencies of webhooks. */
export interface WebhooksContext extends CatalogueContext {
  readonly webhooks: WebhookOptions
}
