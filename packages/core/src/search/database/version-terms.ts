import type { Insertable, Kysely } from 'kysely'
import { compileForColumns, compileInsert, compileQuery, type Param } from '../../storage/compiled-query.ts'
import type { Tables } from '../../storage/tables.ts'

/** Stores the terms of a version's SKILL.md (see `toContentVector`) in the transaction that stores the version. */
export const insertTerms = compileInsert('version_terms')

/** Stores the terms of a version, replacing earlier terms. */
export const putTerms = compileForColumns((db, row: Insertable<Tables['version_terms']>) =>
  db
    .insertInto('version_terms')
    .values(row)
    .onConflict((conflict) => conflict.column('version_id').doUpdateSet((eb) => ({ terms: eb.ref('excluded.terms') }))),
)

/** The stored terms of a version; undefined if the version has none. */
export async function findTerms(db: Kysely<Tables>, versionId: string): Promise<Uint8Array | undefined> {
  const [row] = await selectTerms(db, { versionId })
  return row?.terms
}

const selectTerms = compileQuery((db, param: Param<{ versionId: string }>) =>
  db.selectFrom('version_terms').select('terms').where('version_id', '=', param('versionId')),
)
