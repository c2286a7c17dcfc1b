import type { Migration } from './migration.ts'

/** Marks files that may be run as programs. Not set for existing files, because their modes were not stored. */
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
