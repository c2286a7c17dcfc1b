import { sql, type RawBuilder, type SqlBool } from 'kysely'
import type { Migration, SchemaDb } from './migration.ts'

/**
 * Adds a column that says whether lists contain a skill, for the conditions of the list indexes. On PostgreSQL, the
 * indexes then have no column that publishing another version changes: otherwise PostgreSQL would write all index
 * entries of the skill again. Triggers set the column, also for nodes of an older version.
 */
export const listed: Migration = {
  name: '0006-listed',
  async up(db, dialect) {
    const isSqlite = dialect === 'sqlite'
    const type = isSqlite ? 'integer' : 'bigint'
    const { schema } = db
    // The default is the value of nearly all rows, so that the migration does not write these rows.
    await schema
      .alterTable('skills')
      .addColumn('listed', type, (column) => column.notNull().defaultTo(1))
      .execute()
    await sql`update skills set listed = 0 where ${isListed('skills')} = 0`.execute(db)
    await (isSqlite ? createSqliteTriggers(db) : createPostgresTrigger(db))
    const seen = ['visibility', 'stub', 'owner_id', 'id'] as const
    const create = (name: string) =>
      schema
        .createIndex(name)
        .on('skills')
        .where(sql<SqlBool>`listed = 1`)
    for (const index of ['skills_listed', 'skills_shown']) await schema.dropIndex(index).execute()
    await create('skills_listed')
      .columns(['downloads desc', 'full_name', ...seen, 'num'])
      .execute()
    await create('skills_shown')
      .columns([
        'num',
        ...seen,
        ...(isSqlite ? (['published_at', 'stars'] as const) : ['downloads' as const]),
        'full_name',
      ])
      .execute()
    if (isSqlite) return
    // PostgreSQL stores equal keys once: counting reads a page for each thousand skills.
    await create('skills_counted').columns(['visibility', 'stub']).execute()
    // Without statistics of the new column, PostgreSQL expects few listed skills.
    await sql`analyze skills`.execute(db)
  },
}

function isListed(row: 'new' | 'skills'): RawBuilder<number> {
  const [state, version, stub] = ['state', 'latest_version', 'stub'].map((column) => sql.raw(`${row}.${column}`))
  return sql`case when ${state} = 'live' and (${version} <> '' or ${stub} = 1) then 1 else 0 end`
}

const causes = sql`state, latest_version, stub, listed`

async function createSqliteTriggers(db: SchemaDb): Promise<void> {
  for (const [name, event] of Object.entries({ insert: sql`insert`, update: sql`update of ${causes}` })) {
    await sql`create trigger ${sql.id(`skills_listed_${name}`)} after ${event} on skills
      when new.listed <> ${isListed('new')}
      begin update skills set listed = ${isListed('new')} where num = new.num; end`.execute(db)
  }
}

async function createPostgresTrigger(db: SchemaDb): Promise<void> {
  await sql`create function set_listed() returns trigger language plpgsql as
    $$ begin new.listed := ${isListed('new')}; return new; end $$`.execute(db)
  await sql`create trigger set_listed before insert or update of ${causes} on skills
    for each row execute function set_listed()`.execute(db)
}
