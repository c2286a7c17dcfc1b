import { sql, type Kysely } from 'kysely'
import type { Migration } from '../migrations.ts'
import type { Tables } from '../tables.ts'
import type { WriteTransaction } from '../writer.ts'
import { indexTexts } from '../../search/index-texts.ts'
import { columnsOf, required, to } from './columns.ts'

/**
 * Invitations of collaborators; what recommendations rely on, installs by agents of users and an order by downloads; and
 * the words of categories in the full-text index.
 */
export const invitations: Migration = {
  name: '0014-invitations',
  async up(db, dialect) {
    const { whole, table } = columnsOf(db, dialect)
    // Apart from the collaborators, who read and write: those who were named before this step stay collaborators.
    await table('invitations')
      .addColumn('skill_id', 'text', to('skills.id'))
      .addColumn('user_id', 'text', to('users.id'))
      .addColumn('role', 'text', required)
      .addColumn('created_at', whole, required)
      .addPrimaryKeyConstraint('invitations_key', ['skill_id', 'user_id'])
      .execute()
    await db.schema.createIndex('invitations_user').on('invitations').column('user_id').execute()

    await countInstallsOfUsers(db)
    await db.schema.dropIndex('agent_skills_skill').execute()
    await db.schema.createIndex('agent_skills_counted').on('agent_skills').columns(['skill_id', 'counted']).execute()
    await db.schema.createIndex('skills_downloads').on('skills').columns(['downloads desc', 'id']).execute()

    await nameImports(db)

    if (dialect === 'sqlite') {
      await sql`drop table skill_text`.execute(db)
      await sql`create virtual table skill_text using fts5(
        name, owner, keywords, description, headings, summary, category,
        content='', contentless_delete=1, tokenize='ascii'
      )`.execute(db)
    }
    await indexTexts(db as WriteTransaction, dialect)
  },
}

/** Skills of authors whom an import named were local before; whatever else has such an author came from an upstream. */
async function nameImports(db: Kysely<Tables>): Promise<void> {
  const imported = sql`origin_kind = 'local' and owner_id in (select id from users where claimed = 0)`
  await sql`update skill_documents
    set document = replace(document, '"origin":{"kind":"local"', '"origin":{"kind":"import"')
    where skill_id in (select id from skills where ${imported})`.execute(db)
  await sql`update skills set origin_kind = 'import' where ${imported}`.execute(db)
}

/** Agents without a user counted before. */
async function countInstallsOfUsers(db: Kysely<Tables>): Promise<void> {
  await sql`update agent_skills set counted = 0
    where counted = 1 and agent_id in (select id from agents where user_id is null)`.execute(db)
  await sql`update skills set agent_installs = (
    select count(*) from agent_skills where agent_skills.skill_id = skills.id and counted = 1)
    where agent_installs > 0`.execute(db)
}
