import { toErrorText } from '@skillstead/protocol'
import { sql, type Kysely } from 'kysely'
import type { Tables } from '@skillstead/core/internal'
import { noticeMovedTexts } from './text-drift.ts'
import { restoreAdvice, type Check, type Faults } from './finding.ts'
import { describeDatabase } from './quick-checks.ts'

/** The database's own check: pages and indexes, and rows that refer to missing rows. */
export const databaseCheck: Check = {
  name: 'database',
  async run({ database }, _tell, faults) {
    const { read, dialect } = database
    await (dialect === 'sqlite' ? findSqliteFaults(read, faults) : findPostgresFaults(read, faults))
    return faults.toOutcome(await describeDatabase(database), restoreAdvice)
  },
}

/** Maximum number of reported problems: a file with more cannot be repaired anyway. */
const problemsMax = 20

async function findSqliteFaults(db: Kysely<Tables>, faults: Faults): Promise<void> {
  await noticeMovedTexts(db)
  const { rows } = await sql<{ integrity_check: string }>`pragma integrity_check(${sql.lit(problemsMax)})`.execute(db)
  for (const { integrity_check: found } of rows) if (found !== 'ok') faults.add(`The file is damaged: ${found}.`)
  const orphans = await sql<{ table: string; rowid: number | null; parent: string }>`pragma foreign_key_check`.execute(
    db,
  )
  for (const { table, parent } of orphans.rows) {
    faults.add(`A row of ${table} refers to a missing row of ${parent}.`)
  }
}

async function findPostgresFaults(db: Kysely<Tables>, faults: Faults): Promise<void> {
  const invalid = await sql<{ name: string }>`select indexrelid::regclass::text as name from pg_index
    where not (indisvalid and indisready)`.execute(db)
  for (const { name } of invalid.rows) faults.add(`The index ${name} is invalid; run REINDEX INDEX ${name}.`)
  await findOrphans(db, faults)
  await findBrokenIndexes(db, faults)
}

interface ForeignKey {
  readonly child: string
  readonly child_column: string
  readonly parent: string
  readonly parent_column: string
}

/** Finds rows that refer to missing rows. PostgreSQL's foreign keys prevent them, unless triggers were disabled. */
async function findOrphans(db: Kysely<Tables>, faults: Faults): Promise<void> {
  const keys = await sql<ForeignKey>`select conrelid::regclass::text as child, c.attname as child_column,
      confrelid::regclass::text as parent, p.attname as parent_column
    from pg_constraint
    join pg_attribute c on c.attrelid = conrelid and c.attnum = conkey[1]
    join pg_attribute p on p.attrelid = confrelid and p.attnum = confkey[1]
    where contype = 'f' and connamespace = current_schema()::regnamespace and cardinality(conkey) = 1
    order by 1, 2`.execute(db)
  for (const { child, child_column, parent, parent_column } of keys.rows) {
    const column = sql.ref(`c.${child_column}`)
    const { rows } = await sql<{ n: number }>`select count(*) as n from ${sql.table(child)} as c
      where ${column} is not null and not exists (
        select 1 from ${sql.table(parent)} as p where ${sql.ref(`p.${parent_column}`)} = ${column})`.execute(db)
    const n = rows[0]!.n
    if (n > 0) faults.add(`${n} rows of ${child} refer to missing rows of ${parent}.`)
  }
}

/** Reads each B-tree with the extension amcheck; without the extension, this check is skipped. */
async function findBrokenIndexes(db: Kysely<Tables>, faults: Faults): Promise<void> {
  const { rows: extensions } = await sql`select 1 from pg_extension where extname = 'amcheck'`.execute(db)
  if (extensions.length === 0) return
  const { rows } = await sql<{ oid: number; name: string }>`select c.oid, c.oid::regclass::text as name from pg_index i
    join pg_class c on c.oid = i.indexrelid join pg_am on pg_am.oid = c.relam
    where amname = 'btree' and c.relnamespace = current_schema()::regnamespace`.execute(db)
  for (const { oid, name } of rows) {
    try {
      await sql`select bt_index_check(${oid}::oid::regclass, true)`.execute(db)
    } catch (error) {
      faults.add(`The index ${name} is damaged: ${toErrorText(error)}; run REINDEX INDEX ${name}.`)
    }
  }
}
