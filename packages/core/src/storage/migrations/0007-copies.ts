import { sql } from 'kysely'
import type { Migration } from '../migrations.ts'
import { columnsOf, required, unique } from './columns.ts'

/** What is kept of every version's text, to find who has the same. */
export const copies: Migration = {
  name: '0007-copies',
  async up(db, dialect) {
    const { whole, bytes, table, keyedTable } = columnsOf(db, dialect)

    await table('version_sketches')
      .addColumn('num', dialect === 'sqlite' ? 'integer' : 'bigserial', (column) => column.primaryKey())
      .addColumn('version_id', 'text', (column) => unique(column).references('versions.id'))
      .addColumn('shingles', whole, required)
      .execute()
    await keyedTable('shared_shingles')
      .addColumn('shingle', whole, required)
      .addColumn('skill_num', whole, required)
      .addColumn('sketch_num', whole, required)
      .addPrimaryKeyConstraint('shared_shingles_key', ['shingle', 'skill_num'])
      .execute()
    await keyedTable('waiting_sketches')
      .addColumn('sketch_num', whole, required)
      .addColumn('skill_num', whole, required)
      .addColumn('shingles', bytes, required)
      .addPrimaryKeyConstraint('waiting_sketches_key', ['sketch_num'])
      .execute()
    // Versions that are there already are read in strides once the registry is open.
    await sql`insert into meta (key, value) select 'copies.sketched', '' where exists (select 1 from versions)`.execute(
      db,
    )
  },
}
