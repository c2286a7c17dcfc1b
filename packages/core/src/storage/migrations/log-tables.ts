import { sql, type SqlBool } from 'kysely'
import type { Schema } from './schema.ts'
import { primary, required, zero } from './columns.ts'

/** The change sequence, the public log with its tree and keys, the audit, and the outbox. */
export async function createLogTables(schema: Schema): Promise<void> {
  const isPending = sql<SqlBool>`state = 'pending'`
  const { bytes, empty, orderedText, whole, table, keyedTable, index } = schema

  await table('heads')
    .addColumn('id', whole, primary)
    .addColumn('change_seq', whole, required)
    .addColumn('log_seq', whole, required)
    .addColumn('frontier', bytes, (column) => column.notNull().defaultTo(empty))
    .execute()

  await table('changes')
    .addColumn('seq', whole, primary)
    .addColumn('kind', 'text', required)
    .addColumn('subject', 'text', required)
    .addColumn('at', whole, required)
    .execute()

  // The hash stands before the entry: SQLite reads a row from its start, and entries can be long.
  await table('log')
    .addColumn('seq', whole, primary)
    .addColumn('hash', bytes, required)
    .addColumn('type', 'text', required)
    .addColumn('at', whole, required)
    .addColumn('subject', 'text', required)
    .addColumn('digest', 'text')
    .addColumn('entry', 'text', required)
    .execute()
  await index('log_subject', 'log', ['subject'])

  await table('tree_tiles')
    .addColumn('level', whole, required)
    .addColumn('n', whole, required)
    .addColumn('root', bytes, required)
    .addColumn('middle', bytes, required)
    .addColumn('hashes', bytes, required)
    .addPrimaryKeyConstraint('tree_tiles_key', ['level', 'n'])
    .execute()

  await keyedTable('signing_keys')
    .addColumn('number', whole, primary)
    .addColumn('public_key', bytes, required)
    .addColumn('private_key', bytes)
    .addColumn('created_at', whole, required)
    .addColumn('retires_at', whole)
    .execute()

  await table('audit')
    .addColumn('id', 'text', primary)
    .addColumn('at', whole, required)
    .addColumn('actor_id', 'text')
    .addColumn('actor', 'text')
    .addColumn('action', 'text', required)
    .addColumn('subject', 'text', required)
    .addColumn('data', 'text', required)
    .execute()

  await table('outbox')
    .addColumn('id', 'text', primary)
    .addColumn('topic', 'text', required)
    .addColumn('unique_key', 'text', (column) => column.unique())
    .addColumn('lane', orderedText, required)
    .addColumn('host', 'text', required)
    .addColumn('payload', 'text', required)
    .addColumn('state', 'text', required)
    .addColumn('due_at', whole, required)
    .addColumn('claimable_at', whole, required)
    .addColumn('lease', 'text')
    .addColumn('attempts', whole, zero)
    .addColumn('attempt_log', 'text', required)
    .addColumn('created_at', whole, required)
    .execute()
  // Pending rows are looked up by time, and they are few compared with the completed ones.
  await index('outbox_due', 'outbox', ['claimable_at'], isPending)
  await index('outbox_ended', 'outbox', ['state', 'due_at'], sql<SqlBool>`state <> 'pending'`)
  await index('outbox_history', 'outbox', ['lane', 'id'])
  // By columns that a lease does not change: with many lanes a changed key would write many pages.
  await index('outbox_lanes', 'outbox', ['lane', 'due_at'], isPending)
}
