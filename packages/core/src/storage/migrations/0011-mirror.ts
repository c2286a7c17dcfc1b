import { sql } from 'kysely'
import type { Migration } from '../migrations.ts'
import { columnsOf, primary, required, to, zero } from './columns.ts'

/** Registries that are followed, what is known of their logs, and what waits to be written to them. */
export const mirror: Migration = {
  name: '0011-mirror',
  async up(db, dialect) {
    const { bytes, whole, orderedText, table, keyedTable } = columnsOf(db, dialect)

    await db.schema
      .alterTable('skills')
      .addColumn('source_state', 'text', (column) => column.notNull().defaultTo('live'))
      .execute()

    await db.schema.alterTable('packs').addColumn('origin_upstream', 'text').execute()

    await table('upstreams')
      .addColumn('name', 'text', primary)
      .addColumn('kind', 'text', required)
      .addColumn('location', 'text', required)
      .addColumn('settings', 'text', required)
      .addColumn('credential', bytes)
      .addColumn('account', 'text')
      .addColumn('log_origin', 'text')
      .addColumn('log_epoch', whole)
      .addColumn('keys', 'text', required)
      .addColumn('staged', whole, zero)
      .addColumn('frontier', bytes, required)
      .addColumn('verified', whole, zero)
      .addColumn('checkpoint', 'text')
      .addColumn('checkpoint_at', whole)
      .addColumn('applied', whole, zero)
      .addColumn('cursor', 'text', required)
      .addColumn('lease', 'text')
      .addColumn('lease_until', whole, zero)
      .addColumn('tried_at', whole)
      .addColumn('synced_at', whole)
      .addColumn('report', 'text', required)
      .addColumn('alarm', 'text')
      .addColumn('created_at', whole, required)
      .execute()

    await table('upstream_log')
      .addColumn('upstream', 'text', to('upstreams.name'))
      .addColumn('seq', whole, required)
      .addColumn('hash', bytes, required)
      .addColumn('type', 'text', required)
      // What begins with the name of a skill lies together.
      .addColumn('subject', orderedText, required)
      .addColumn('entry', 'text', required)
      .addPrimaryKeyConstraint('upstream_log_key', ['upstream', 'seq'])
      .execute()
    await db.schema
      .createIndex('upstream_log_subject')
      .on('upstream_log')
      .columns(['subject', 'upstream', 'seq'])
      .execute()
    // There are few, and they are looked through whenever a skill comes in.
    await db.schema
      .createIndex('upstream_log_packs')
      .on('upstream_log')
      .columns(['upstream', 'subject', 'seq'])
      .where(sql.ref('type'), '=', sql.lit('pack'))
      .execute()
    await table('upstream_tiles')
      .addColumn('upstream', 'text', to('upstreams.name'))
      .addColumn('level', whole, required)
      .addColumn('n', whole, required)
      .addColumn('root', bytes, required)
      .addColumn('middle', bytes, required)
      .addColumn('hashes', bytes, required)
      .addPrimaryKeyConstraint('upstream_tiles_key', ['upstream', 'level', 'n'])
      .execute()

    await keyedTable('upstream_refusals')
      .addColumn('upstream', 'text', to('upstreams.name'))
      .addColumn('subject', 'text', required)
      .addColumn('reason', 'text', required)
      .addColumn('detail', 'text', required)
      .addColumn('at', whole, required)
      .addColumn('tries', whole, zero)
      .addPrimaryKeyConstraint('upstream_refusals_key', ['upstream', 'subject'])
      .execute()

    await keyedTable('upstream_links')
      .addColumn('user_id', 'text', to('users.id'))
      .addColumn('upstream', 'text', to('upstreams.name'))
      .addColumn('username', 'text', required)
      .addColumn('credential', bytes, required)
      .addColumn('created_at', whole, required)
      .addPrimaryKeyConstraint('upstream_links_key', ['user_id', 'upstream'])
      .execute()

    await table('upstream_writes')
      .addColumn('id', 'text', primary)
      .addColumn('position', whole, required)
      .addColumn('upstream', 'text', to('upstreams.name'))
      .addColumn('user_id', 'text')
      .addColumn('subject', 'text', required)
      .addColumn('kind', 'text', required)
      .addColumn('payload', 'text', required)
      .addColumn('state', 'text', required)
      .addColumn('attempts', whole, zero)
      .addColumn('error', 'text')
      .addColumn('created_at', whole, required)
      .addColumn('ended_at', whole)
      .execute()
    await db.schema
      .createIndex('upstream_writes_waiting')
      .on('upstream_writes')
      .columns(['upstream', 'state', 'subject', 'position'])
      .execute()
    await db.schema.createIndex('upstream_writes_position').on('upstream_writes').column('position').execute()
  },
}
