import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import type { Connections } from './connections.ts'
import { listenToChanges } from './listener.ts'
import type { Tables } from './tables.ts'

const connectionsMax = 10
const connectTimeoutMs = 5_000
/** Detects a server that disappeared without notice; queries would otherwise wait for it without end. */
const keepAliveMs = 10_000

const int8 = 20
const numeric = 1700
const parsers = { [int8]: Number, [numeric]: Number } as Record<number, (text: string) => unknown>

/** Opens a pool of connections to PostgreSQL. Connects on the first query. */
export function openPostgres(databaseUrl: string): Connections {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: connectionsMax,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
    // Parse bigints as numbers: all of ours are times, counters and sequence numbers, which a double represents
    // exactly.
    types: { getTypeParser: (id, format) => parsers[id] ?? pg.types.getTypeParser(id, format) },
  })
  // The pool replaces an idle connection that breaks; without a listener the error would end the process.
  pool.on('error', () => {})
  // A connection that breaks during a query rejects that query; without this listener the error would also end the
  // process.
  pool.on('connect', (client) => void client.on('error', () => {}))
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  return {
    dialect: 'postgres',
    main: db,
    read: db,
    listen: (onNotice) => listenToChanges(databaseUrl, onNotice),
    close: () => db.destroy(),
  }
}
