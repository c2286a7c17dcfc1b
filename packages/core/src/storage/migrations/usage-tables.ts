import type { Schema } from './schema.ts'
import { primary, required, to, unique, zero } from './columns.ts'

/** Installs and downloads by time, trends, and skills of other registries. */
export async function createUsageTables(schema: Schema): Promise<void> {
  const { orderedText, whole, table, keyedTable, index } = schema

  await table('install_journal').addColumn('id', 'text', primary).addColumn('counts', 'text', required).execute()

  await keyedTable('install_hours')
    .addColumn('skill_id', 'text', to('skills.id'))
    .addColumn('hour', whole, required)
    .addColumn('installs', whole, zero)
    .addPrimaryKeyConstraint('install_hours_key', ['hour', 'skill_id'])
    .execute()

  await keyedTable('install_days')
    .addColumn('skill_id', 'text', to('skills.id'))
    .addColumn('day', whole, required)
    .addColumn('installs', whole, zero)
    .addPrimaryKeyConstraint('install_days_key', ['day', 'skill_id'])
    .execute()

  await keyedTable('download_days')
    .addColumn('skill_id', 'text', to('skills.id'))
    .addColumn('day', whole, required)
    .addColumn('downloads', whole, zero)
    .addPrimaryKeyConstraint('download_days_key', ['day', 'skill_id'])
    .execute()

  await keyedTable('trends')
    .addColumn('period', 'text', required)
    .addColumn('skill_id', 'text', to('skills.id'))
    .addColumn('installs', whole, zero)
    .addColumn('previous', whole, zero)
    .addColumn('score', whole, zero)
    .addPrimaryKeyConstraint('trends_key', ['period', 'skill_id'])
    .execute()
  await index('trends_score', 'trends', ['period', 'score desc', 'skill_id'])

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
  await index('external_skills_installs', 'external_skills', ['installs desc', 'name', 'id'])
  await index('external_skills_name', 'external_skills', ['name'])
  await index('external_skills_registry', 'external_skills', ['registry', 'installs desc', 'name', 'id'])
  await index('external_skills_registry_verdict', 'external_skills', [
    'registry',
    'verdict',
    'installs desc',
    'name',
    'id',
  ])
  await index('external_skills_repository', 'external_skills', ['repo_url', 'name'])
  await index('external_skills_verdict', 'external_skills', ['verdict', 'installs desc', 'name', 'id'])
}
