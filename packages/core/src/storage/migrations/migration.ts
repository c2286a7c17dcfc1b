import type { Kysely } from 'kysely'
import type { Dialect } from '../dialect.ts'
import type { Tables } from '../tables.ts'

/** One step of the schema. A step that was released never changes. */
export interface Migration {
  readonly name: string
  up(db: Kysely<Tables>, dialect: Dialect): Promise<void>
}
