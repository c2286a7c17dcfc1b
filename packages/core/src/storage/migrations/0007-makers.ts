import type { Migration } from './migration.ts'

/** The key that made a key or a share link. The maker of existing ones is unknown. */
export const makers: Migration = {
  name: '0007-makers',
  async up({ schema }) {
    for (const table of ['api_keys', 'shares']) {
      await schema.alterTable(table).addColumn('made_by', 'text').execute()
      await schema.createIndex(`${table}_maker`).on(table).columns(['made_by']).execute()
    }
  },
}
