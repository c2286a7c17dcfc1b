import type { Kysely } from 'kysely'
import type { Dialect } from '../dialect.ts'
import type { Tables } from '../tables.ts'

/** One migration of the schema. A released migration never changes. */
export interface Migration {
  readonly name: string
  up(db: Kysely<Tables>, dialect: Dialect): Promise<void>
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
