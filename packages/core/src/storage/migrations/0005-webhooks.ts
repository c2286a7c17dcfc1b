import type { Migration } from '../migrations.ts'
import { columnsOf, primary, required, to, zero } from './columns.ts'

/** Who is told of what happens. */
export const webhooks: Migration = {
  name: '0005-webhooks',
  async up(db, dialect) {
    const { whole, table, keyedTable } = columnsOf(db, dialect)

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
    await db.schema.createIndex('webhooks_user').on('webhooks').columns(['user_id', 'id']).execute()
    await keyedTable('webhook_subscriptions')
      .addColumn('event', 'text', required)
      .addColumn('user_id', 'text', to('users.id'))
      .addColumn('webhook_id', 'text', (column) => column.notNull().references('webhooks.id').onDelete('cascade'))
      .addPrimaryKeyConstraint('webhook_subscriptions_key', ['event', 'user_id', 'webhook_id'])
      .execute()
    await db.schema
      .createIndex('webhook_subscriptions_webhook')
      .on('webhook_subscriptions')
      .column('webhook_id')
      .execute()
  },
}
