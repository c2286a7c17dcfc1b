import { Kysely } from 'kysely'
import pg from 'pg'
import type { Connections, Listener } from './connections.ts'
import { createPostgresDialect } from './postgres-driver.ts'
import type { Tables } from './tables.ts'

const connectionsMax = 10
const connectTimeoutMs = 5_000
/** Idle time before TCP keep-alive probes, which detect a lost server: otherwise queries would wait forever. */
const keepAliveMs = 10_000

const int8 = 20
const numeric = 1700
const parsers: Readonly<Record<number, (text: string) => unknown>> = { [int8]: Number, [numeric]: Number }

/**
 * Opens a pool of connections to PostgreSQL. Connects on the first query. With `isReadOnly` the server rejects every
 * write.
 */
export function openPostgres(databaseUrl: string, isReadOnly = false): Connections {
  const pool = new pg.Pool({
    connectionString: isReadOnly ? toReadOnlyUrl(databaseUrl) : databaseUrl,
    max: connectionsMax,
    connectionTimeoutMillis: connectTimeoutMs,
    pipeline: true,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
    // Parse bigints as numbers: all bigints of the tables are times, counters and sequence numbers, which a double
    // represents exactly.
    types: { getTypeParser: (id, format) => parsers[id] ?? pg.types.getTypeParser(id, format) },
  })
  // The pool replaces an idle connection that breaks; without a listener the error would end the process.
  pool.on('error', () => {})
  // A connection that breaks during a query rejects that query; without this listener the error would also end the
  // process.
  pool.on('connect', (client) => void client.on('error', () => {}))
  const db = new Kysely<Tables>({ dialect: createPostgresDialect(pool) })
  return {
    dialect: 'postgres',
    main: db,
    read: db,
    listen: (onNotice) => listenToChanges(databaseUrl, onNotice),
    close: () => db.destroy(),
  }
}

/**
 * Adds an option for read-only transactions to a URL. Copies the value of PGOPTIONS, because options in a URL replace
 * that environment variable. An option of the start of a session, unlike a later `set`, cannot reach other clients of a
 * connection pooler.
 */
function toReadOnlyUrl(databaseUrl: string): string {
  const end = databaseUrl.indexOf('?')
  const base = end === -1 ? databaseUrl : databaseUrl.slice(0, end)
  const parameters = new URLSearchParams(end === -1 ? '' : databaseUrl.slice(end + 1))
  const given = parameters.get('options') ?? process.env['PGOPTIONS'] ?? ''
  parameters.set('options', `${given} -c default_transaction_read_only=on`.trim())
  return `${base}?${parameters.toString()}`
}

/** The notification channel for commits to `changes`; see `createClusterTables`. */
const channel = 'skillstead_changes'
const waitMs = { least: 100, most: 10_000 }
/** How long a stop waits for the server to close the connection. */
const goodbyeMs = 1_000

/**
 * Listens on a dedicated connection, because connections of the pool change hands. Reconnects with increasing delays.
 * Notifications may be missed meanwhile, so `onNotice` is also called each time listening begins.
 */
function listenToChanges(databaseUrl: string, onNotice: () => void): Listener {
  let client: pg.Client | undefined
  let timer: NodeJS.Timeout | undefined
  let isUp = false
  let isStopped = false
  let failures = 0

  async function connect(): Promise<void> {
    const made = new pg.Client({
      connectionString: databaseUrl,
      connectionTimeoutMillis: connectTimeoutMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: keepAliveMs,
    })
    client = made
    let isOver = false
    const end = () => {
      if (isOver) return
      isOver = true
      isUp = false
      again()
    }
    // An error without a listener would end the process. The event `end` follows each error.
    made.on('error', () => {})
    made.on('end', end)
    made.on('notification', onNotice)
    try {
      await made.connect()
      await made.query(`listen ${channel}`)
      if (isOver || isStopped) return
      isUp = true
      failures = 0
      onNotice()
    } catch {
      void made.end().catch(() => {})
      end()
    }
  }

  function again(): void {
    if (isStopped) return
    const ms = Math.min(waitMs.most, waitMs.least * 2 ** failures)
    failures += 1
    // Jitter: all nodes lost the server at the same time, and should not reconnect at once.
    timer = setTimeout(() => void connect(), ms * (0.5 + Math.random() / 2)).unref()
  }

  void connect()
  return {
    get isUp() {
      return isUp
    },
    async stop() {
      isStopped = true
      clearTimeout(timer)
      isUp = false
      if (client) await Promise.race([client.end().catch(() => {}), pause(goodbyeMs)])
    },
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms).unref())
}
