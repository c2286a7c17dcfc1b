import { sql, type Expression, type SelectQueryBuilder, type SqlBool } from 'kysely'
import { countRows } from '../storage/count-rows.ts'
import type { Database } from '../storage/database.ts'
import type { SkillRow, Tables } from '../storage/tables.ts'
import { conditionsOf, isListed, isOpenToViewer, type Viewer } from '../visibility/conditions.ts'
import type { SearchFilters } from './document-table.ts'

type SkillQuery = SelectQueryBuilder<Tables, 'skills', object>

/** Selects the skills that a viewer may see, and that pass the filters. */
export function selectVisible(
  database: Pick<Database, 'read'>,
  viewer: Viewer,
  filters: SearchFilters,
  stored: StoredTexts = {},
): SkillQuery {
  return selectListed(database, filters, stored).where(isOpenToViewer(viewer))
}

/** Counts what {@link selectVisible} selects. */
export async function countVisible(
  database: Database,
  viewer: Viewer,
  filters: SearchFilters,
  stored: StoredTexts = {},
): Promise<number> {
  if (database.dialect === 'sqlite') return countRows(selectVisible(database, viewer, filters, stored))
  // PostgreSQL counts each of these with an index, but all of them together only by looking at every skill.
  const all = selectListed(database, filters, stored)
  const counts = await Promise.all(conditionsOf(viewer).map((condition) => countRows(all.where(condition))))
  return counts.reduce((sum, count) => sum + count, 0)
}

function selectListed({ read }: Pick<Database, 'read'>, filters: SearchFilters, stored: StoredTexts): SkillQuery {
  return read
    .selectFrom('skills')
    .where(isListed)
    .where((eb) => eb.and(toConditions(filters, stored)))
}

function toConditions(filters: SearchFilters, stored: StoredTexts): Expression<SqlBool>[] {
  const conditions: Expression<SqlBool>[] = []
  if (!filters.includeStubs) conditions.push(flag('stub', false))
  for (const column of foldedColumns) {
    const values = stored[column]
    if (values) conditions.push(values.length === 0 ? sql<SqlBool>`1 = 0` : isOneOf(column, values))
  }
  // Usernames are ASCII, which databases and JavaScript lower-case alike. There are fewer users than skills.
  if (filters.owner !== undefined)
    conditions.push(sql`owner_id in (select id from users where lower(username) = ${filters.owner.toLowerCase()})`)
  if (filters.verified !== undefined) conditions.push(flag('verified', filters.verified))
  if (filters.deprecated !== undefined) conditions.push(flag('deprecated', filters.deprecated))
  if (filters.minSecurityScore !== undefined)
    conditions.push(sql<SqlBool>`security_score >= ${filters.minSecurityScore}`)
  if (filters.keyword !== undefined) {
    // The column is JSON text: search for the keyword with its quotes.
    const quoted = JSON.stringify(filters.keyword.toLowerCase())
    conditions.push(sql<SqlBool>`replace(lower(keywords), ${quoted}, '') <> lower(keywords)`)
  }
  return conditions
}

function isOneOf(column: keyof SkillRow, values: string[]) {
  return sql<SqlBool>`${sql.ref(column)} in (${sql.join(values)})`
}

function flag(column: keyof SkillRow, value: boolean) {
  return sql<SqlBool>`${sql.ref(column)} = ${Number(value)}`
}

const foldedColumns = ['category', 'license'] as const
/** The stored spellings of the texts that a search filters by. */
type StoredTexts = { [Column in (typeof foldedColumns)[number]]?: string[] }

/** Compares the spellings here, because SQLite's `lower` only converts ASCII. There are few distinct texts. */
export async function readStored(database: Database, filters: SearchFilters): Promise<StoredTexts> {
  const stored: StoredTexts = {}
  for (const column of foldedColumns) {
    const wanted = filters[column]?.toLowerCase()
    if (wanted === undefined) continue
    const rows = await database.read.selectFrom('skills').select(column).distinct().execute()
    stored[column] = rows.map((row) => row[column]).filter((text) => text.toLowerCase() === wanted)
  }
  return stored
}
