import type { SearchFilters } from '@skillstead/protocol'
import type { Expression, SelectQueryBuilder, SqlBool } from 'kysely'
import { countRows } from '../../storage/count-rows.ts'
import type { Database } from '../../storage/database.ts'
import type { Tables } from '../../storage/tables.ts'
import { conditionsOf, isListedRow, isOpenToViewer, type Viewer } from '../../visibility/conditions.ts'

type SkillQuery = SelectQueryBuilder<Tables, 'skills', object>
type StubFilter = Pick<SearchFilters, 'includeStubs'>

/** Selects the skills that a viewer may see, with or without stubs. */
export function selectVisible(database: Pick<Database, 'read'>, viewer: Viewer, stubs: StubFilter): SkillQuery {
  return selectListed(database, stubs).where(isOpenToViewer(viewer))
}

/** Counts the skills of {@link selectVisible} that pass a condition. */
export async function countVisible(
  database: Database,
  viewer: Viewer,
  stubs: StubFilter,
  passes?: Expression<SqlBool>,
): Promise<number> {
  const counted = (condition: Expression<SqlBool>) => {
    const listed = selectListed(database, stubs).where(condition)
    return countRows(passes ? listed.where(passes) : listed)
  }
  if (database.dialect === 'sqlite') return counted(isOpenToViewer(viewer))
  // PostgreSQL counts each condition with an index, but a disjunction of the conditions only by reading every skill.
  const counts = await Promise.all(conditionsOf(viewer).map(counted))
  return counts.reduce((sum, count) => sum + count, 0)
}

function selectListed({ read }: Pick<Database, 'read'>, { includeStubs }: StubFilter): SkillQuery {
  const listed = read.selectFrom('skills').where(isListedRow)
  return includeStubs ? listed : listed.where('stub', '=', 0)
}
