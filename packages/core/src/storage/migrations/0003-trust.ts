import { sql, type Kysely } from 'kysely'
import type { Migration } from '../migrations.ts'
import type { Tables } from '../tables.ts'
import { columnsOf, maybeTo, primary, required, to, unique, zero } from './columns.ts'

const standingColumns = [
  ...(['skills', 'portable_skills', 'described_skills', 'downloads', 'stars', 'reviews', 'review_points'] as const),
  ...(['flagged_skills', 'hidden_skills', 'taken_down_skills', 'score'] as const),
] as const

/** Reputation, verification, moderation, takedowns and reports of copies. */
export const trust: Migration = {
  name: '0003-trust',
  async up(db, dialect) {
    const { fraction, whole, orderedText, table } = columnsOf(db, dialect)
    const index = (name: string, on: string, columns: string[]) =>
      db.schema.createIndex(name).on(on).columns(columns).execute()

    for (const column of ['portable', 'credited_stars', 'credited_reviews', 'credited_points', 'agent_installs'])
      await db.schema.alterTable('skills').addColumn(column, whole, zero).execute()
    await db.schema
      .alterTable('skills')
      .addColumn('moderation', 'text', (column) => column.notNull().defaultTo('shown'))
      .execute()
    await db.schema
      .alterTable('skills')
      .addColumn('moderation_reason', 'text', (column) => column.notNull().defaultTo(''))
      .execute()
    await db.schema.alterTable('skills').addColumn('moderated_at', whole).execute()
    await index('skills_forked_from', 'skills', ['forked_from'])
    await index('skills_category', 'skills', ['category', 'downloads desc', 'id'])

    const standings = table('standings').addColumn('user_id', 'text', (column) =>
      column.primaryKey().notNull().references('users.id'),
    )
    await standingColumns
      .reduce((builder, column) => builder.addColumn(column, whole, zero), standings)
      .addColumn('username', orderedText, required)
      .addColumn('verified', 'text', required)
      .addColumn('computed_at', whole, required)
      .execute()
    await index('standings_score', 'standings', ['score desc', 'username', 'user_id'])
    await index('users_disabled', 'users', ['disabled'])
    await table('badges')
      .addColumn('user_id', 'text', to('users.id'))
      .addColumn('badge', 'text', required)
      .addColumn('since', whole, required)
      .addPrimaryKeyConstraint('badges_key', ['user_id', 'badge'])
      .execute()

    await table('verifications')
      .addColumn('id', 'text', primary)
      .addColumn('user_id', 'text', to('users.id'))
      .addColumn('method', 'text', required)
      .addColumn('proof', 'text', required)
      .addColumn('token', 'text', required)
      .addColumn('status', 'text', required)
      .addColumn('note', 'text', required)
      .addColumn('checked_at', whole)
      .addColumn('asked', whole, zero)
      .addColumn('answered', whole, zero)
      .addColumn('created_at', whole, required)
      .execute()
    await index('verifications_user', 'verifications', ['user_id', 'method'])
    await index('verifications_status', 'verifications', ['status', 'id'])

    await table('reports')
      .addColumn('id', 'text', primary)
      .addColumn('kind', 'text', required)
      .addColumn('skill_id', 'text', to('skills.id'))
      .addColumn('reason', 'text', required)
      .addColumn('details', 'text', required)
      .addColumn('reporter_id', 'text', maybeTo('users.id'))
      .addColumn('status', 'text', required)
      .addColumn('note', 'text', required)
      .addColumn('created_at', whole, required)
      .addColumn('decided_at', whole)
      .execute()
    await index('reports_status', 'reports', ['status', 'id'])
    await index('reports_skill', 'reports', ['skill_id', 'kind'])
    await table('copy_reports')
      .addColumn('id', 'text', primary)
      .addColumn('skill_id', 'text', to('skills.id'))
      .addColumn('original_skill_id', 'text', to('skills.id'))
      .addColumn('reporter_id', 'text', to('users.id'))
      .addColumn('status', 'text', required)
      .addColumn('similarity', fraction, required)
      .addColumn('evidence', 'text', required)
      .addColumn('note', 'text', required)
      .addColumn('created_at', whole, required)
      .execute()
    await index('copy_reports_status', 'copy_reports', ['status', 'id'])
    await index('copy_reports_skill', 'copy_reports', ['skill_id', 'reporter_id'])

    await table('dmca_cases')
      .addColumn('id', 'text', primary)
      .addColumn('skill_id', 'text', to('skills.id'))
      .addColumn('status', 'text', required)
      .addColumn('notice', 'text', required)
      .addColumn('token_hash', 'text', unique)
      .addColumn('counter_notice_until', whole)
      .addColumn('submitted_at', whole, required)
      .execute()
    await index('dmca_cases_skill', 'dmca_cases', ['skill_id', 'status'])
    await index('dmca_cases_status', 'dmca_cases', ['status', 'id'])
    await table('dmca_counter_notices')
      .addColumn('id', 'text', primary)
      .addColumn('case_id', 'text', to('dmca_cases.id'))
      .addColumn('notice', 'text', required)
      .addColumn('confirmed', whole, required)
      .addColumn('sent_at', whole, required)
      .execute()
    await index('dmca_counter_notices_case', 'dmca_counter_notices', ['case_id', 'id'])
    await table('dmca_history')
      .addColumn('id', 'text', primary)
      .addColumn('case_id', 'text', to('dmca_cases.id'))
      .addColumn('status', 'text', required)
      .addColumn('at', whole, required)
      .addColumn('note', 'text', required)
      .execute()
    await index('dmca_history_case', 'dmca_history', ['case_id', 'id'])

    await countSoFar(db)
  },
}

/**
 * What changes keep up from here on is counted once from what is there already. 0016-agent-ratings counts standings.
 */
async function countSoFar(db: Kysely<Tables>): Promise<void> {
  await sql`update skills set agent_installs = (
    select count(*) from agent_skills where agent_skills.skill_id = skills.id and counted = 1)`.execute(db)
}
