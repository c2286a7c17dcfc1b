import { sql } from 'kysely'
import type { Migration } from '../migrations.ts'
import { columnsOf, primary, required } from './columns.ts'

/** Stored versions that a rescan quarantined. */
export const quarantinedVersions: Migration = {
  name: '0018-quarantined-versions',
  async up(db, dialect) {
    const { whole, keyedTable } = columnsOf(db, dialect)
    await keyedTable('quarantined_versions')
      .addColumn('version_id', 'text', (column) => primary(column).references('versions.id'))
      .addColumn('quarantined_at', whole, required)
      .execute()
    // Only the audit has those of earlier programs.
    await sql`insert into quarantined_versions (version_id, quarantined_at)
      select versions.id, max(audit.at) from audit
      inner join skills on audit.subject like skills.full_name || '@%'
      inner join versions on versions.skill_id = skills.id and audit.subject = skills.full_name || '@' || versions.version
      where audit.action = 'version.quarantine'
      group by versions.id`.execute(db)
  },
}
