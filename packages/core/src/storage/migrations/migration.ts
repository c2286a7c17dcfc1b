import { sql, type QueryExecutorProvider, type SchemaModule } from 'kysely'
import type { Dialect } from '../dialect.ts'

/** The database as a migration gets it: without the types of the tables, because these describe the newest schema. */
export interface SchemaDb extends QueryExecutorProvider {
  readonly schema: SchemaModule
}

/**
 * One migration of the schema. A released migration never changes: it contains its own statements, and imports neither
 * the description of the tables nor another function that a later release may change.
 */
export interface Migration {
  readonly name: string
  up(db: SchemaDb, dialect: Dialect): Promise<void>
}

/** The words in which the statements of the two databases differ. */
export interface Types {
  /** Text in the order of its code points, whatever the locale of the database: for lists in the order of names. */
  readonly ordered: string
  /** A whole number. A time in milliseconds needs more than the 32 bits of PostgreSQL's `integer`. */
  readonly whole: string
  readonly fraction: string
  readonly bytes: string
  /** The type of a primary key that the database counts up by itself. */
  readonly serial: string
  readonly noBytes: string
  /** The end of a table. SQLite checks the types of values in strict tables only. */
  readonly strict: string
  /** The end of a table of short rows that are always read by their key: SQLite stores them in the tree of the key. */
  readonly keyed: string
}

const types: { readonly [K in Dialect]: Types } = {
  sqlite: {
    ordered: 'text',
    whole: 'integer',
    fraction: 'real',
    bytes: 'blob',
    serial: 'integer',
    noBytes: "x''",
    strict: ' strict',
    keyed: ' strict, without rowid',
  },
  postgres: {
    ordered: 'text collate "C"',
    whole: 'bigint',
    fraction: 'double precision',
    bytes: 'bytea',
    serial: 'bigserial',
    noBytes: "''",
    strict: '',
    keyed: '',
  },
}

/** Runs statements that are separated by `;`. The lines of each statement are joined with spaces. */
export async function runStatements(db: SchemaDb, dialect: Dialect, write: (types: Types) => string): Promise<void> {
  const statements = write(types[dialect]).split(';')
  // Join the lines: SQLite stores the text of a statement in the schema, and would store the line breaks, too.
  for (const statement of statements) await sql.raw(statement.trim().replaceAll(/\s*\n\s*/g, ' ')).execute(db)
}

/** The tables that another package has in the same database. */
export interface SchemaExtension {
  /** The name of the package: the prefix of its migrations' names, also shown in errors. */
  readonly name: string
  /** Migrations in the order in which they run. None leads back to an older schema. */
  readonly migrations: readonly Migration[]
  /** All tables of the package, in the order of exports and backups: a row comes after the rows that it refers to. */
  readonly tables: Readonly<Record<string, TableRule>>
}

/** How an export writes the rows of a table. */
export interface TableRule {
  /** The columns that identify a row. Rows are sorted by them. */
  readonly key: readonly string[]
  /** SQL condition of the exported rows, which both databases understand. Default: all rows. */
  readonly where?: string
  /**
   * SQL that replaces the values of columns that only matter to a running process, such as leases. Exports and backups
   * contain the replacements.
   */
  readonly instead?: Readonly<Record<string, string>>
  /** Whether single rows may have megabytes, so that only few rows are read at a time. */
  readonly isHeavy?: true
  /** The column whose value is encrypted with the secret key. Exports and backups do not contain it. */
  readonly sealed?: string
}
