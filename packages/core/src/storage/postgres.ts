import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import type { Connections } from './connections.ts'
import { listenToChanges } from './listener.ts'
import type { Tables } from './tables.ts'

const connectionsMax = 10
const connectTimeoutMs = 5_000
/** Notices a server that went away without a word, or whoever waits for its answer would do so for ever. */
const keepAliveMs = 10_000

const int8 = 20
const numeric = 1700
const parsers = { [int8]: Number, [numeric]: Number } as Record<number, (text: string) => unknown>

/** Opens a pool of connections to PostgreSQL; nothing is connected before the first query. */
export function openPostgres(databaseUrl: string): Connections {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: connectionsMax,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
    // All our big integers are times, counters and sequence numbers, which fit a double.
    types: { getTypeParser: (id, format) => parsers[id] ?? pg.types.getTypeParser(id, format) },
  })
  // A connection that breaks while idle is replaced by the pool; without a listener it would end the process.
  pool.on('error', () => {})
  // And of one that breaks in use its query tells; without a listener of its own it would end the process too.
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
