import { sql, type SqlBool } from 'kysely'
import type { Migration } from './migration.ts'

const isListed = sql<SqlBool>`state = 'live' and (latest_version <> '' or stub = 1)`

/** Indexes with all columns that lists and searches look at, so that they do not read the wide rows of all skills. */
export const lists: Migration = {
  name: '0005-lists',
  async up({ schema }, dialect) {
    // The columns that decide who may see a skill.
    const seen = ['visibility', 'stub', 'owner_id', 'id'] as const
    // Columns for lists in another order than by downloads: PostgreSQL sorts rows of `skills_listed` for them, SQLite
    // rows of `skills_shown`.
    const sorted = ['published_at', 'stars'] as const
    const isSqlite = dialect === 'sqlite'
    const create = (name: string) => schema.createIndex(name).on('skills').where(isListed)
    await create('skills_listed')
      .columns(['downloads desc', 'full_name', ...seen, ...(isSqlite ? [] : sorted), 'num'])
      .execute()
    // PostgreSQL counts with this index if the index is small.
    await create('skills_shown')
      .columns(['num', ...seen, ...(isSqlite ? [...sorted, 'full_name'] : [])])
      .execute()
  },
}
