import type { SearchFilters } from '@skillstead/protocol'
import { sql, type Expression, type Kysely, type SelectQueryBuilder, type SqlBool } from 'kysely'
import { compileQuery, type Param } from '../../storage/compiled-query.ts'
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
 * Above this number, PostgreSQL estimates how many skills everyone sees: counting a million would take longer than the
 * other work of the list. In such a table, the estimate of PostgreSQL is right to a few percent.
 */
const countedMax = 100_000

/**
 * Databases whose last list had at most `countedMax` skills: the skills of the next list are counted without an
 * estimate before, which costs as much as the count. If the skills have become more than `countedMax` meanwhile, they
 * are counted once more.
 */
const small = { withStubs: new WeakSet<Database['read']>(), withoutStubs: new WeakSet<Database['read']>() }

/** How many skills a viewer may see. */
export interface VisibleCount {
  readonly total: number
  /** Whether the total is an estimate, rounded to two digits. */
  readonly estimated?: true
}

/** Counts the skills of {@link selectVisible} that pass a condition, if there is one. */
export async function countVisible(
  database: Database,
  viewer: string | null,
  stubs: StubFilter,
  passes?: Expression<SqlBool>,
): Promise<VisibleCount> {
  const [open, ...closed] = conditionsOf(viewer)
  const { read, dialect } = database
  const variant = stubs.includeStubs ? 'withStubs' : 'withoutStubs'
  const isSmall = small[variant]
  // With `passes`, count: an estimate for a condition on texts may be far off.
  const isCounted = dialect === 'sqlite' || passes !== undefined || isSmall.has(read)
  const estimate = isCounted ? 0 : await estimateRows(selectListed(database, stubs).where(open!))
  const isEstimated = estimate > countedMax
  const countOfViewer = () =>
    passes ? sumCounts(read, closed, stubs, passes).execute() : countClosed[variant](read, { viewer: viewer! })
  const [[ofAll], [ofViewer]] = await Promise.all([
    isEstimated ? [{ count: estimate }] : sumCounts(read, [open!], stubs, passes).execute(),
    viewer === null ? [] : countOfViewer(),
  ])
  if (!passes && ofAll!.count <= countedMax) isSmall.add(read)
  else if (!passes) isSmall.delete(read)
  const total = ofAll!.count + (ofViewer?.count ?? 0)
  return isEstimated ? { total: Number(total.toPrecision(2)), estimated: true } : { total }
}

const countClosed = {
  withStubs: compileCount({ includeStubs: true }),
  withoutStubs: compileCount({ includeStubs: false }),
}

/** Compiled once: Kysely takes longer to compile the conditions of a viewer than a database to count the skills. */
function compileCount(stubs: StubFilter) {
  return compileQuery((db, param: Param<{ viewer: string }>) =>
    sumCounts(db, conditionsOf(param('viewer')).slice(1), stubs),
  )
}

/**
 * Counts the listed skills with each of some exclusive conditions, and adds the counts: a database counts each with an
 * index, but a disjunction of the conditions only by reading every skill.
 */
function sumCounts(
  read: Kysely<Tables>,
  conditions: readonly Expression<SqlBool>[],
  stubs: StubFilter,
  passes?: Expression<SqlBool>,
) {
  const counts = conditions.map((condition) => {
    const listed = selectListed({ read }, stubs).where(condition)
    return (passes ? listed.where(passes) : listed).select(sql<number>`count(*)`.as('count'))
  })
  return read.selectNoFrom(sql<number>`${sql.join(counts, sql` + `)}`.as('count'))
}

async function estimateRows(query: SkillQuery): Promise<number> {
  const [row] = await query.select('num').explain<{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }>('json')
  return row!['QUERY PLAN'][0].Plan['Plan Rows']
}

function selectListed({ read }: Pick<Database, 'read'>, { includeStubs }: StubFilter): SkillQuery {
  const listed = read.selectFrom('skills').where(isListedRow)
  return includeStubs ? listed : listed.where('stub', '=', 0)
}
