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

/**
 * Above this number, PostgreSQL estimates how many skills everyone sees: counting a million would take longer than all else
 * in their list. In such a table its samples are right to a few percent.
 */
const countedMax = 100_000

/**
 * Databases with at most this number in their last list: the next one counts without an estimate before, which costs as
 * much as the count. One that has grown meanwhile is counted once more, however large it is.
 */
const small = { withStubs: new WeakSet<Database['read']>(), withoutStubs: new WeakSet<Database['read']>() }

/** How many skills a viewer may see. */
export interface VisibleCount {
  readonly total: number
  /** Whether the total is an estimate, of two digits. */
  readonly estimated?: true
}

/** Counts the skills of {@link selectVisible} that pass a condition, if there is one. */
export async function countVisible(
  database: Database,
  viewer: Viewer,
  stubs: StubFilter,
  passes?: Expression<SqlBool>,
): Promise<VisibleCount> {
  const counted = (condition: Expression<SqlBool>) => {
    const listed = selectListed(database, stubs).where(condition)
    return countRows(passes ? listed.where(passes) : listed)
  }
  if (database.dialect === 'sqlite') return { total: await counted(isOpenToViewer(viewer)) }
  // PostgreSQL counts each condition with an index, but a disjunction of the conditions only by reading every skill.
  const [open, ...closed] = conditionsOf(viewer)
  const isSmall = small[stubs.includeStubs ? 'withStubs' : 'withoutStubs']
  // The estimate of a condition on texts may be far off.
  const isCounted = passes !== undefined || isSmall.has(database.read)
  const estimate = isCounted ? 0 : await estimateRows(selectListed(database, stubs).where(open!))
  const isEstimated = estimate > countedMax
  const counts = await Promise.all([isEstimated ? estimate : counted(open!), ...closed.map(counted)])
  if (!passes && counts[0]! <= countedMax) isSmall.add(database.read)
  else if (!passes) isSmall.delete(database.read)
  const total = counts.reduce((sum, count) => sum + count, 0)
  return isEstimated ? { total: Number(total.toPrecision(2)), estimated: true } : { total }
}

async function estimateRows(query: SkillQuery): Promise<number> {
  const [row] = await query.select('num').explain<{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }>('json')
  return row!['QUERY PLAN'][0].Plan['Plan Rows']
}

function selectListed({ read }: Pick<Database, 'read'>, { includeStubs }: StubFilter): SkillQuery {
  const listed = read.selectFrom('skills').where(isListedRow)
  return includeStubs ? listed : listed.where('stub', '=', 0)
}
