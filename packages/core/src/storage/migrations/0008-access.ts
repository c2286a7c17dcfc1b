import type { Migration } from '../migrations.ts'
import { columnsOf, primary, required } from './columns.ts'

/** What versions use. */
export const access: Migration = {
  name: '0008-access',
  async up(db, dialect) {
    const { table } = columnsOf(db, dialect)

    await table('version_access')
      .addColumn('version_id', 'text', (column) => primary(column).references('versions.id'))
      .addColumn('access', 'text', required)
      .execute()
  },
}
