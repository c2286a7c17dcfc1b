import { sql, type Kysely } from 'kysely'
import type { Migration } from '../migrations.ts'
import type { Tables } from '../tables.ts'
import { zero } from './columns.ts'

/** Which skills hold their short name, and public forms of the others that name them in full. */
export const heldNames: Migration = {
  name: '0017-held-names',
  async up(db) {
    await db.schema.alterTable('skills').addColumn('holds_name', 'integer', zero).execute()
    await sql`update skills set holds_name = 1
      where exists (select 1 from holders where holders.skill_id = skills.id and holders.name = skills.name)`.execute(
      db,
    )
    await nameInFull(db)
  },
}

const pageRows = 100

async function nameInFull(db: Kysely<Tables>): Promise<void> {
  for (let after = 0; ;) {
    const rows = await db
      .selectFrom('skills')
      .innerJoin('skill_documents', 'skill_documents.skill_id', 'skills.id')
      .select(['skills.num', 'skills.id', 'skills.full_name', 'document', 'skill_documents.updated_at'])
      .where('skills.num', '>', after)
      .where('skills.holds_name', '=', 0)
      .orderBy('skills.num')
      .limit(pageRows)
      .execute()
    for (const { id, full_name, document, updated_at } of rows) {
      const named = { ...(JSON.parse(document) as object), name: full_name }
      // The time is part of the tag of an answer, which has to change with it.
      const columns = { document: JSON.stringify(named), updated_at: updated_at + 1 }
      await db.updateTable('skill_documents').set(columns).where('skill_id', '=', id).execute()
    }
    if (rows.length < pageRows) return
    after = rows.at(-1)!.num
  }
}
