import { RegistryError } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import type { DmcaCaseRow, Tables } from '../storage/tables.ts'

/** The case with an id; throws `not_found`. */
export async function getCase(db: Kysely<Tables>, id: string): Promise<DmcaCaseRow> {
  const found = await db.selectFrom('dmca_cases').selectAll().where('id', '=', id).executeTakeFirst()
  if (!found) throw new RegistryError('not_found', 'There is no takedown case with this id.')
  return found
}
