import type { Migration } from '../migrations.ts'
import { columnsOf, primary, required, to, unique, zero } from './columns.ts'

/** Installs by the hour, what trends, and skills of other registries. */
export const usage: Migration = {
  name: '0004-usage',
  async up(db, dialect) {
    const { whole, orderedText, table, keyedTable } = columnsOf(db, dialect)

    await table('install_journal').addColumn('id', 'text', primary).addColumn('counts', 'text', required).execute()
    for (const span of ['hour', 'day']) {
      await keyedTable(`install_${span}s`)
        .addColumn('skill_id', 'text', to('skills.id'))
        .addColumn(span, whole, required)
        .addColumn('installs', whole, zero)
        .addPrimaryKeyConstraint(`install_${span}s_key`, [span, 'skill_id'])
        .execute()
    }
    await keyedTable('trends')
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
      .addColumn('name', orderedText, required)
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
    const indexes: Record<string, string[]> = {
      installs: ['installs desc', 'name', 'id'],
      registry: ['registry', 'installs desc', 'name', 'id'],
      verdict: ['verdict', 'installs desc', 'name', 'id'],
      registry_verdict: ['registry', 'verdict', 'installs desc', 'name', 'id'],
      name: ['name'],
      repository: ['repo_url', 'name'],
    }
    for (const [name, columns] of Object.entries(indexes)) {
      await db.schema.createIndex(`external_skills_${name}`).on('external_skills').columns(columns).execute()
    }
  },
}
