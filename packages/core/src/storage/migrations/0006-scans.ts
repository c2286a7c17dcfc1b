import type { Migration } from '../migrations.ts'
import { columnsOf, maybeTo, primary, required, to } from './columns.ts'

/** What scans of versions came to, and versions that wait for an administrator because of it. */
export const scans: Migration = {
  name: '0006-scans',
  async up(db, dialect) {
    const { bytes, whole, table, keyedTable } = columnsOf(db, dialect)

    await keyedTable('scans')
      .addColumn('version_id', 'text', (column) => primary(column).references('versions.id'))
      .addColumn('skill_id', 'text', to('skills.id'))
      .addColumn('score', whole, required)
      .addColumn('verdict', 'text', required)
      .addColumn('risk', 'text', required)
      .addColumn('rules_version', 'text', required)
      .addColumn('scanned_at', whole, required)
      .addColumn('report', 'text', required)
      .execute()
    await db.schema.createIndex('scans_rules').on('scans').column('rules_version').execute()

    await table('held_versions')
      .addColumn('id', 'text', primary)
      .addColumn('owner_id', 'text', to('users.id'))
      .addColumn('publisher_id', 'text', to('users.id'))
      .addColumn('full_name', 'text', required)
      .addColumn('version', 'text', required)
      .addColumn('digest', 'text', required)
      .addColumn('scan', 'text', required)
      .addColumn('publication', 'text', required)
      .addColumn('agent_id', 'text', maybeTo('agents.id'))
      .addColumn('created_at', whole, required)
      .addUniqueConstraint('held_versions_content', ['full_name', 'digest'])
      .execute()
    await db.schema.createIndex('held_versions_owner').on('held_versions').columns(['owner_id', 'id']).execute()
    // Apart from the blobs that everybody can ask for.
    await table('held_files')
      .addColumn('held_id', 'text', (column) => column.notNull().references('held_versions.id').onDelete('cascade'))
      .addColumn('path', 'text', required)
      .addColumn('size', whole, required)
      .addColumn('digest', 'text', required)
      .addColumn('encoding', 'text', required)
      .addColumn('bytes', bytes, required)
      .addPrimaryKeyConstraint('held_files_key', ['held_id', 'path'])
      .execute()
  },
}
