import { sql, type SqlBool } from 'kysely'
import { createSchema, primary, required, to, zero, type Migration } from '@skillstead/core/internal'

/** Upstream registries, their logs, and the writes that are queued for them. */
const baseline: Migration = {
  name: '0001-baseline',
  async up(db, dialect) {
    const { bytes, orderedText, whole, table, keyedTable, index } = createSchema(db, dialect)

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
      .addColumn('subject', orderedText, required)
      .addColumn('entry', 'text', required)
      .addPrimaryKeyConstraint('upstream_log_key', ['upstream', 'seq'])
      .execute()
    // Packs are few, and the mirror reads them all when a skill arrives.
    await index('upstream_log_packs', 'upstream_log', ['upstream', 'subject', 'seq'], sql<SqlBool>`type = 'pack'`)
    await index('upstream_log_subject', 'upstream_log', ['subject', 'upstream', 'seq'])

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
    await index('upstream_writes_position', 'upstream_writes', ['position'])
    await index('upstream_writes_waiting', 'upstream_writes', ['upstream', 'state', 'subject', 'position'])
  },
}

/** The steps of the mirror's schema, oldest first. A step that was released never changes. */
export const migrations: readonly Migration[] = [baseline]
