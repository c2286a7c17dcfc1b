import { sql, type SqlBool } from 'kysely'
import type { Migration } from '../migrations.ts'
import { columnsOf, required, to, zero } from './columns.ts'

/** Downloads by the day, and what people look up of themselves. */
export const dashboard: Migration = {
  name: '0012-dashboard',
  async up(db, dialect) {
    const { whole, keyedTable } = columnsOf(db, dialect)
    await keyedTable('download_days')
      .addColumn('skill_id', 'text', to('skills.id'))
      .addColumn('day', whole, required)
      .addColumn('downloads', whole, zero)
      .addPrimaryKeyConstraint('download_days_key', ['day', 'skill_id'])
      .execute()
    await db.schema.createIndex('stars_user').on('stars').columns(['user_id', 'created_at']).execute()
    await db.schema.createIndex('request_votes_user').on('request_votes').columns(['user_id', 'created_at']).execute()
    // Asked by guests: whether anybody can sign in, among however many authors an import or a mirror brought in.
    await db.schema.createIndex('users_claimed').on('users').columns(['claimed']).execute()
    await db.schema
      .createIndex('skills_moderated')
      .on('skills')
      .columns(['moderated_at'])
      .where(sql<SqlBool>`moderation <> 'shown'`)
      .execute()
  },
}
