import { sql, type SqlBool } from 'kysely'
import type { Migration } from './migration.ts'

const isListed = sql<SqlBool>`state = 'live' and (latest_version <> '' or stub = 1)`

/** Indexes with all columns that lists and searches look at, so that they do not read the wide rows of all skills. */
export const lists: Migration = {
  name: '0005-lists',
  async up({ schema }) {
    // What decides who may see a skill.
    const seen = ['visibility', 'stub', 'owner_id', 'id'] as const
    const create = (name: string) => schema.createIndex(name).on('skills').where(isListed)
    await create('skills_listed')
      .columns(['downloads desc', 'full_name', ...seen, 'num'])
      .execute()
    // Also for lists in another order, of which the rows are sorted.
    await create('skills_shown')
      .columns(['num', ...seen, 'published_at', 'stars', 'full_name'])
      .execute()
  },
}
