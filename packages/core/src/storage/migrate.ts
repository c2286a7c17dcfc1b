import { readErrorCode, RegistryError } from '@skillstead/protocol'
import { sql, type Kysely } from 'kysely'
import type { Dialect } from './dialect.ts'
import { baseline } from './migrations/0001-first.ts'
import { change } from './migrations/0002-change.ts'
import { opinions } from './migrations/0003-opinions.ts'
import { texts } from './migrations/0004-texts.ts'
import { lists } from './migrations/0005-lists.ts'
import { listed } from './migrations/0006-listed.ts'
import { makers } from './migrations/0007-makers.ts'
import { handovers } from './migrations/0008-handovers.ts'
import { scripts } from './migrations/0009-scripts.ts'
import { executable } from './migrations/0010-executable.ts'
import { downloadDetails } from './migrations/0011-download-details.ts'
import { installers } from './migrations/0012-installers.ts'
import { organisations } from './migrations/0013-organisations.ts'
import { identity } from './migrations/0014-identity.ts'
import { trustedPublishers } from './migrations/0015-trusted-publishers.ts'
import { auditEmail } from './migrations/0016-audit-email.ts'
import { recalls } from './migrations/0017-recalls.ts'
import { evaluations } from './migrations/0018-evaluations.ts'
import { requires } from './migrations/0019-requires.ts'
import { blobPlaces } from './migrations/0020-blob-places.ts'
import { listIndexes } from './migrations/0022-list-indexes.ts'
import { loadingClients } from './migrations/0023-loading-clients.ts'
import { sharedIndex } from './migrations/0024-shared-index.ts'
import { openTexts } from './migrations/0025-open-texts.ts'
import type { Migration, SchemaExtension } from './migrations/migration.ts'
import type { Tables } from './tables.ts'

/** Key of the advisory lock: any number that no other program on the same PostgreSQL server uses. */
const advisoryLock = 7_545_001

/** Migrations in the order in which they run. None leads back to an older schema. */
const migrations: readonly Migration[] = [
  baseline,
  change,
  opinions,
  texts,
  lists,
  listed,
  makers,
  handovers,
  scripts,
  executable,
  downloadDetails,
  installers,
  organisations,
  identity,
  trustedPublishers,
  auditEmail,
  recalls,
  evaluations,
  requires,
  blobPlaces,
  listIndexes,
  loadingClients,
  sharedIndex,
  openTexts,
]

type Extensions = readonly Pick<SchemaExtension, 'name' | 'migrations'>[]

/**
 * The migrations of core and of these extensions, in their order. The name of an extension's migration starts with the
 * extension's package.
 */
export function listSteps(extensions: Extensions): readonly Migration[] {
  const added = extensions.flatMap((extension) =>
    extension.migrations.map((step): Migration => ({ ...step, name: `${extension.name}/${step.name}` })),
  )
  return [...migrations, ...added]
}

/**
 * Migrates a database to the schema of this release in one transaction, so that a failure changes nothing. Throws if
 * the database has migrations that neither this release nor the given extensions have. Kysely's `Migrator` (0.29) would
 * run those of SQLite without a transaction, because its adapter states `supportsTransactionalDdl: false`. If
 * nothing is missing, as at most starts, a single statement without a lock is enough.
 */
export async function migrate(db: Kysely<Tables>, dialect: Dialect, extensions: Extensions = []): Promise<void> {
  if (await isCurrent(db, dialect, extensions)) return
  await db.transaction().execute(async (trx) => {
    // If two nodes open an empty PostgreSQL database at once, `if not exists` does not keep one of them from failing.
    if (dialect === 'postgres') await sql`select pg_advisory_xact_lock(${advisoryLock})`.execute(trx)
    if (dialect === 'sqlite') await refuseForeignTables(trx)
    await sql`create table if not exists migrations (name text primary key, position integer not null)`.execute(trx)
    const applied = await readAppliedSteps(trx)
    requireKnownSteps(applied, extensions)
    const missing = listMissingSteps(applied, extensions)
    for (const [i, migration] of missing.entries()) {
      await migration.up(trx, dialect)
      const position = applied.length + i
      await sql`insert into migrations (name, position) values (${migration.name}, ${position})`.execute(trx)
    }
  })
}

/** Whether a database has exactly the schema of this release and the extensions. Throws as {@link migrate}. */
async function isCurrent(db: Kysely<Tables>, dialect: Dialect, extensions: Extensions): Promise<boolean> {
  try {
    const applied = await readAppliedSteps(db, dialect === 'postgres' ? isInOwnSchema : undefined)
    requireKnownSteps(applied, extensions)
    return listMissingSteps(applied, extensions).length === 0
  } catch (error) {
    const code = readErrorCode(error)
    // The database is empty, or belongs to another program.
    if (code === 'SQLITE_ERROR' || code?.startsWith(postgresNameErrors)) return false
    throw error
  }
}

/** The first characters of PostgreSQL's codes for names that do not exist or are not accessible. */
const postgresNameErrors = '42'

/**
 * Whether the table is in the schema in which PostgreSQL would create it: a later schema of the search path may have the
 * table of another program.
 */
const isInOwnSchema = sql`tableoid in (select pg_class.oid from pg_class
  join pg_namespace on pg_namespace.oid = relnamespace where nspname = current_schema())`

function listMissingSteps(applied: readonly string[], extensions: Extensions): Migration[] {
  return listSteps(extensions).filter(({ name }) => !applied.includes(name))
}

/**
 * Throws unless a database has exactly the schema of this release and the given extensions: `no_registry` if it has no
 * tables, `older_schema` if it would have to be migrated. Changes nothing.
 */
export async function requireCurrentSchema(
  db: Kysely<Tables>,
  dialect: Dialect,
  extensions: Extensions = [],
): Promise<void> {
  if (dialect === 'sqlite') await refuseForeignTables(db)
  if (!(await hasMigrations(db, dialect))) {
    throw new RegistryError('no_registry', "The database is empty. The mode 'create' creates a registry in it.")
  }
  const applied = await readAppliedSteps(db)
  requireKnownSteps(applied, extensions)
  const missing = listMissingSteps(applied, extensions)
  if (missing.length === 0) return
  const names = missing.map(({ name }) => name).join(', ')
  throw new RegistryError(
    'older_schema',
    `The database was made by an older Skillstead, or without these extensions (it lacks ${names}). ` +
      "Open it once with the mode 'write' to migrate it.",
  )
}

async function hasMigrations(db: Kysely<Tables>, dialect: Dialect): Promise<boolean> {
  const { rows } =
    dialect === 'sqlite'
      ? await sql`select 1 from sqlite_master where name = 'migrations'`.execute(db)
      : await sql`select 1 where to_regclass('migrations') is not null`.execute(db)
  return rows.length > 0
}

function requireKnownSteps(applied: readonly string[], extensions: Extensions): void {
  const problem = findUnknownSteps(applied, extensions)
  if (problem) throw new RegistryError(problem.code, `The database ${problem.detail}`)
}

/** Throws `not_a_registry` for an SQLite file of another program, so that no tables are added to it. */
async function refuseForeignTables(trx: Kysely<Tables>): Promise<void> {
  const { rows } = await sql<{ name: string }>`select name from sqlite_master where type = 'table'`.execute(trx)
  if (rows.length === 0 || rows.some(({ name }) => name === 'migrations')) return
  throw new RegistryError('not_a_registry', 'The database belongs to another program. Pass the path of a registry.')
}

/** The names of the migrations that a database has, oldest first. */
export async function readAppliedSteps(db: Kysely<Tables>, condition = sql`true`): Promise<string[]> {
  const { rows } = await sql<{
    name: string
  }>`select name from migrations where ${condition} order by position`.execute(db)
  return rows.map(({ name }) => name)
}

/** Why a database cannot be opened; `detail` is the end of a sentence about the database. */
interface SchemaProblem {
  readonly code: 'newer_schema' | 'unsupported_schema'
  readonly detail: string
}

/** Returns why this release cannot open a database with these migrations; undefined if it can. */
export function findUnknownSteps(applied: readonly string[], extensions: Extensions): SchemaProblem | undefined {
  const known = new Set(listSteps(extensions).map(({ name }) => name))
  const unknown = applied.filter((name) => !known.has(name))
  if (unknown.length === 0) return undefined
  const owners = unknown.map(toExtensionName)
  const missing = owners.find((owner) => owner !== undefined && extensions.every(({ name }) => name !== owner))
  if (missing !== undefined) {
    const detail = `has tables of ${missing}. Pass the extension of that package in \`extensions\`.`
    return { code: 'unsupported_schema', detail }
  }
  if (applied.includes(baseline.name)) {
    const detail = `was made by a newer Skillstead (it has ${unknown.join(', ')}). Update this program to open it.`
    return { code: 'newer_schema', detail }
  }
  const detail =
    `was made by a development version from before the first release (its schema starts with ${unknown[0]!}). ` +
    'Use the version that made it, or start with an empty registry.'
  return { code: 'unsupported_schema', detail }
}

/** Whether a database lacks migrations of core, or of an extension that has other migrations in it. */
export function isOlderSchema(applied: readonly string[], extensions: Extensions): boolean {
  const used = extensions.filter((extension) => hasExtension(applied, extension))
  return listSteps(used).some(({ name }) => !applied.includes(name))
}

/** Whether a database has the tables of an extension. */
export function hasExtension(applied: readonly string[], { name }: Pick<SchemaExtension, 'name'>): boolean {
  return applied.some((step) => toExtensionName(step) === name)
}

/** The package of an extension's migration; undefined for a migration of core. */
function toExtensionName(step: string): string | undefined {
  const end = step.lastIndexOf('/')
  return end < 0 ? undefined : step.slice(0, end)
}
