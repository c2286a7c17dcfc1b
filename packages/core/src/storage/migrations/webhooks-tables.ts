import type { Schema } from './schema.ts'
import { primary, required, to, zero } from './columns.ts'

/** Webhooks and the events that they subscribe to. */
export async function createWebhookTables(schema: Schema): Promise<void> {
  const { whole, table, keyedTable, index } = schema

  await table('webhooks')
    .addColumn('id', 'text', primary)
    .addColumn('user_id', 'text', to('users.id'))
    .addColumn('url', 'text', required)
    .addColumn('events', 'text', required)
    .addColumn('skills', 'text')
    .addColumn('secret', 'text', required)
    .addColumn('previous_secret', 'text')
    .addColumn('previous_until', whole)
    .addColumn('active', whole, required)
    .addColumn('failed_run', whole, zero)
    .addColumn('created_at', whole, required)
    .addColumn('updated_at', whole, required)
    .execute()
  await index('webhooks_user', 'webhooks', ['user_id', 'id'])

  await keyedTable('webhook_subscriptions')
    .addColumn('event', 'text', required)
    .addColumn('user_id', 'text', to('users.id'))
    .addColumn('webhook_id', 'text', (column) => to('webhooks.id')(column).onDelete('cascade'))
    .addPrimaryKeyConstraint('webhook_subscriptions_key', ['event', 'user_id', 'webhook_id'])
    .execute()
  await index('webhook_subscriptions_webhook', 'webhook_subscriptions', ['webhook_id'])
}
