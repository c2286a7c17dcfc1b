import type { Kysely } from 'kysely'
import type { Dialect } from '../dialect.ts'
import type { Tables } from '../tables.ts'

/** One step of the schema. A step that was released never changes. */
export interface Migration {
  readonly name: string
  up(db: Kysely<Tables>, dialect: Dialect): Promise<void>
}

/** The tables that another package has in the same database. */
export interface SchemaExtension {
  /** The name of the package: the names of its steps start with it, and errors show it. */
  readonly name: string
  /** Forward only, in this order. */
  readonly migrations: readonly Migration[]
  /** Every table of it, as exports and backups have it. A row comes after the rows that it refers to. */
  readonly tables: Readonly<Record<string, TableRule>>
}

/** How the rows of a table go into an export. */
export interface TableRule {
  /** The columns that identify a row, in the order of the rows. */
  readonly key: readonly string[]
  /** Which rows, as SQL that both databases understand. Default: all. */
  readonly where?: string
  /** SQL for the values of columns that a running process holds, such as leases: no export and no backup keeps them. */
  readonly instead?: Readonly<Record<string, string>>
  /** Whether single rows may have megabytes, so that only few are read at a time. */
  readonly isHeavy?: true
  /** The column with a value that the secret key seals, which no export and no backup has. */
  readonly sealed?: string
}
