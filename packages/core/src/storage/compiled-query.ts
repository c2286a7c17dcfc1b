import type { Compilable, CompiledQuery, Kysely } from 'kysely'
import type { Tables } from './tables.ts'

/**
 * A query that is built once a connection and run with other parameters each time: on the hot path building costs as
 * much as running. The parameters given while building only mark the places, in their order.
 */
export function keepCompiled<Row>(build: (db: Kysely<Tables>) => Compilable<Row>) {
  const kept = new WeakMap<Kysely<Tables>, CompiledQuery<Row>>()
  return async (db: Kysely<Tables>, ...parameters: unknown[]): Promise<Row[]> => {
    let query = kept.get(db)
    if (!query) kept.set(db, (query = build(db).compile()))
    const { rows } = await db.executeQuery<Row>({ ...query, parameters })
    return rows
  }
}
