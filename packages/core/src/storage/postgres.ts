import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import type { Connections } from './database.ts'
import type { Tables } from './tables.ts'

const connectionsMax = 10
const connectTimeoutMs = 5_000

const int8 = 20
const numeric = 1700
const parsers = { [int8]: Number, [numeric]: Number } as Record<number, (text: string) => unknown>

/** Opens a pool of connections to PostgreSQL; nothing is connected before the first query. */
export function openPostgres(databaseUrl: string): Connections {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: connectionsMax,
    connectionTimeoutMillis: connectTimeoutMs,
    // All our big integers are times, counters and sequence numbers, which fit a double.
    types: { getTypeParser: (id, format) => parsers[id] ?? pg.types.getTypeParser(id, format) },
  })
  // A connection that breaks while idle is replaced by the pool; without a listener it would end the process.
  pool.on('error', () => {})
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  return { dialect: 'postgres', main: db, read: db, close: () => db.destroy() }
}
