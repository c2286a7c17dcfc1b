import type { Migration } from './migration.ts'

/** Files that may be run as programs. The files that are stored already had no modes. */
export const executable: Migration = {
  name: '0010-executable',
  async up({ schema }, dialect) {
    const type = dialect === 'sqlite' ? 'integer' : 'bigint'
    for (const table of ['version_files', 'quarantine_files'])
      await schema
        .alterTable(table)
        .addColumn('executable', type, (column) => column.notNull().defaultTo(0))
        .execute()
  },
}
