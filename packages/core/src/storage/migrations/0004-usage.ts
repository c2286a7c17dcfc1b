import type { Migration } from '../migrations.ts'
import { columnsOf, primary, required, to, unique, zero } from './columns.ts'

/** Installs by the hour, what trends, and skills of other registries. */
export const usage: Migration = {
  name: '0004-usage',
  async up(db, dialect) {
    const { whole, table } = columnsOf(db, dialect)

    await table('install_journal').addColumn('id', 'text', primary).addColumn('counts', 'text', required).execute()
    for (const span of ['hour', 'day']) {
      await table(`install_${span}s`)
        .addColumn('skill_id', 'text', to('skills.id'))
        .addColumn(span, whole, required)
        .addColumn('installs', whole, zero)
        .addPrimaryKeyConstraint(`install_${span}s_key`, [span, 'skill_id'])
        .execute()
    }
    await table('trends')
      .addColumn('period', 'text', required)
      .addColumn('skill_id', 'text', to('skills.id'))
      .addColumn('installs', whole, zero)
      .addColumn('previous', whole, zero)
      .addColumn('score', whole, zero)
      .addPrimaryKeyConstraint('trends_key', ['period', 'skill_id'])
      .execute()
    await db.schema.createIndex('trends_score').on('trends').columns(['period', 'score desc', 'skill_id']).execute()

    await table('external_skills')
      .addColumn('id', 'text', primary)
      .addColumn('registry', 'text', required)
      .addColumn('name', 'text', required)
      .addColumn('url', 'text', unique)
      .addColumn('repo_url', 'text', required)
      .addColumn('description', 'text', required)
      .addColumn('author', 'text', required)
      .addColumn('installs', whole, zero)
      .addColumn('security_score', whole)
      .addColumn('verdict', 'text')
      .addColumn('scanned_at', whole)
      .addColumn('indexed_at', whole, required)
      .execute()
    await db.schema
      .createIndex('external_skills_installs')
      .on('external_skills')
      .columns(['installs desc', 'id'])
      .execute()
    await db.schema.createIndex('external_skills_name').on('external_skills').columns(['name']).execute()
  },
}
