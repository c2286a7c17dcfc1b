import DataLoader from 'dataloader'
import type { Kysely } from 'kysely'
import { compileQuery, type Param } from '../../storage/compiled-query.ts'
import type { Database } from '../../storage/database.ts'
import { compileListQuery } from '../../storage/list-query.ts'
import type { Tables } from '../../storage/tables.ts'

/** Finds a skill by its full name. */
export type FindDocumented = ReturnType<typeof createFindDocumented>

/**
 * Reads skills with their documents. PostgreSQL finds all skills that are requested within a turn of the event loop
 * with a single statement, since round trips cost more than rows.
 */
export function createFindDocumented({ dialect, read }: Pick<Database, 'dialect' | 'read'>) {
  const findOne = async (fullName: string) => (await selectDocumentedOne(read, { fullName }))[0]
  if (dialect === 'sqlite') return findOne
  const loader = new DataLoader(
    async (fullNames: readonly string[]) => {
      const rows = await selectDocumentedMany({ dialect, read }, { fullNames })
      const byName = new Map(rows.map((row) => [row.full_name, row]))
      return fullNames.map((fullName) => byName.get(fullName))
    },
    { cache: false, maxBatchSize: documentedSkillsMax, batchScheduleFn: (send) => void setImmediate(send) },
  )
  return (fullName: string): ReturnType<typeof findOne> => loader.load(fullName)
}

const documentedSkillsMax = 100

const selectDocumented = (db: Kysely<Tables>) =>
  db
    .selectFrom('skills')
    .innerJoin('skill_documents as documents', 'documents.skill_id', 'skills.id')
    .select(['skills.id', 'name', 'full_name', 'owner_id', 'holds_name', 'visibility', 'state'])
    .select(['downloads', 'stars', 'forks', 'dependents', 'forked_from', 'forked_from_version'])
    .select(['document', 'documents.revision as document_revision', 'documents.updated_at as documented_at'])

const selectDocumentedOne = compileQuery((db, param: Param<{ fullName: string }>) =>
  selectDocumented(db).where('skills.full_name', '=', param('fullName')),
)
const selectDocumentedMany = compileListQuery((db, param: Param<{ fullNames: Iterable<string> }>, lists) =>
  selectDocumented(db).where(lists.has('skills.full_name', param('fullNames'))),
)
