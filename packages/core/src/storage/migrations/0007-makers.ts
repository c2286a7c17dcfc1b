import type { Migration } from './migration.ts'

/** Adds the API key that created an API key or a share link; unknown for existing keys and links. */
export const makers: Migration = {
  name: '0007-makers',
  async up({ schema }) {
    for (const table of ['api_keys', 'shares']) {
      await schema.alterTable(table).addColumn('made_by', 'text').execute()
      await schema.createIndex(`${table}_maker`).on(table).columns(['made_by']).execute()
    }
  },
}
