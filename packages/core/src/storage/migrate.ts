import { sql, type Kysely } from 'kysely'
import type { Dialect } from './dialect.ts'
import { baseline } from './migrations/0001-baseline.ts'
import type { Migration } from './migrations/migration.ts'
import type { Tables } from './tables.ts'

/** Any number that no other program on the same PostgreSQL locks. */
const advisoryLock = 7_545_001

/** Forward only, in this order. */
const migrations: readonly Migration[] = [baseline]

/** The steps of the schema that this program knows, oldest first. */
export const migrationNames: readonly string[] = migrations.map(({ name }) => name)

/**
 * Brings a database up to the schema that this program knows, in one transaction: a failure leaves the database as it
 * was. Throws when another program made a schema that this one does not know.
 */
export async function migrate(db: Kysely<Tables>, dialect: Dialect): Promise<void> {
  await db.transaction().execute(async (trx) => {
    // Where two nodes open an empty PostgreSQL at once, `if not exists` lets both try, and one of them fails.
    if (dialect === 'postgres') await sql`select pg_advisory_xact_lock(${advisoryLock})`.execute(trx)
    await sql`create table if not exists migrations (name text primary key, position integer not null)`.execute(trx)
    const applied = await readAppliedSteps(trx)
    const problem = findUnknownSteps(applied)
    if (problem !== undefined) throw new Error(`The database ${problem}`)
    for (const [position, migration] of migrations.entries()) {
      if (applied.includes(migration.name)) continue
      await migration.up(trx, dialect)
      await sql`insert into migrations (name, position) values (${migration.name}, ${position})`.execute(trx)
    }
  })
}

/** The steps that made the schema of a database, oldest first. */
export async function readAppliedSteps(db: Kysely<Tables>): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select name from migrations order by position`.execute(db)
  return rows.map(({ name }) => name)
}

/** Why this program cannot read a schema that these steps made: the rest of a sentence; undefined where it can. */
export function findUnknownSteps(applied: readonly string[]): string | undefined {
  const unknown = applied.filter((name) => !migrationNames.includes(name))
  if (unknown.length === 0) return undefined
  if (applied.includes(baseline.name)) {
    return `was made by a newer Skillstead (it has ${unknown.join(', ')}). Update this program to open it.`
  }
  return (
    `was made by a development version from before the first release (its schema starts with ${unknown[0]!}). ` +
    'Use the version that made it, or start with an empty registry.'
  )
}
