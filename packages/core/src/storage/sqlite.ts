import { closeSync, openSync } from 'node:fs'
import SqliteDatabase from 'better-sqlite3'
import { Kysely, SqliteDialect, sql as query, type SqliteDatabase as KyselyDatabase } from 'kysely'
import { createCheckpoints, type Checkpoints } from './checkpoints.ts'
import type { Connections } from './connections.ts'
import type { Tables } from './tables.ts'

/** Waiting for another process's lock blocks the thread, so it is short; the writer tries again without blocking. */
const busyTimeoutMs = 50
const statementsKeptMax = 500
const cacheKibibytes = 8_192
/**
 * Moving the journal into the file is felt by whoever commits just then: done more often it slows publishing down, done
 * less often it takes longer each time. Where a thread does it, commits do only what that cannot keep up with.
 */
const checkpointPages = { alone: 2000, besideThread: 8000 }

/**
 * What the journal keeps of the room that it once needed: as much as it takes when all is well. It grows as long as
 * somebody reads, and without this would stay as large as an export of a busy node made it.
 */
const journalBytesMax = 64 * 1024 * 1024

type KyselyStatement = ReturnType<KyselyDatabase['prepare']>

/** Opens (and makes) an SQLite file. `:memory:` is a database that ends with the process. */
export function openSqlite(path: string): Connections {
  if (path !== ':memory:') createFile(path)
  const database = open(path)
  // A database in memory belongs to its connection: a second one would be another database.
  const reading = path === ':memory:' ? undefined : openBeside(database)
  const checkpoints = reading && beginCheckpoints(database)
  const main = connect(database, checkpoints?.committed)
  const read = reading ? connect(reading) : main
  return {
    dialect: 'sqlite',
    main,
    read,
    async compact() {
      await checkpoints?.stop()
      await query`vacuum`.execute(main)
      // The new file is in the journal as yet.
      await query`pragma wal_checkpoint(truncate)`.execute(main)
    },
    async close() {
      if (read !== main) await read.destroy()
      await checkpoints?.stop()
      await main.destroy()
    },
  }
}

/** A second connection, for reading; the first is closed where there can be none. */
function openBeside(database: SqliteDatabase.Database): SqliteDatabase.Database {
  try {
    return open(database.name, { readonly: true })
  } catch (error) {
    database.close()
    throw error
  }
}

/** Private skills and secrets are in it: for its owner alone. SQLite gives the journal the mode of the file. */
function createFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch {
    // It exists, or SQLite reports why it cannot be opened.
  }
}

function open(path: string, options: { readonly?: boolean } = {}): SqliteDatabase.Database {
  const database = new SqliteDatabase(path, options)
  try {
    configure(database)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

function configure(database: SqliteDatabase.Database): void {
  database.pragma(`busy_timeout = ${busyTimeoutMs}`)
  database.pragma(`cache_size = -${cacheKibibytes}`)
  if (database.readonly) return
  database.pragma('journal_mode = WAL')
  // FULL: an answered write survives a power cut, not only a crash of the process.
  database.pragma('synchronous = FULL')
  database.pragma('foreign_keys = ON')
  database.pragma(`wal_autocheckpoint = ${checkpointPages.alone}`)
  database.pragma(`journal_size_limit = ${journalBytesMax}`)
}

function beginCheckpoints(database: SqliteDatabase.Database): Checkpoints {
  const share = (pages: number) => void database.pragma(`wal_autocheckpoint = ${pages}`)
  const checkpoints = createCheckpoints(database.name, () => share(checkpointPages.alone))
  share(checkpointPages.besideThread)
  return checkpoints
}

function connect(database: SqliteDatabase.Database, onCommit?: () => void): Kysely<Tables> {
  return new Kysely<Tables>({ dialect: new SqliteDialect({ database: memoiseStatements(database, onCommit) }) })
}

/**
 * Kysely prepares every query anew, which costs six times what running it does; so statements are kept by their text.
 * A plain `begin` takes the write lock only at the first write, and can then fail half way: all of ours begin with it.
 */
export function memoiseStatements(database: SqliteDatabase.Database, onCommit?: () => void): KyselyDatabase {
  const statements = new Map<string, KyselyStatement>()
  return {
    close: () => {
      statements.clear()
      database.close()
    },
    prepare(text) {
      if (text === 'commit') onCommit?.()
      const sql = text === 'begin' && !database.readonly ? 'begin immediate' : text
      let statement = statements.get(sql)
      if (!statement) {
        if (statements.size >= statementsKeptMax) statements.clear()
        statement = sql === 'rollback' ? prepareRollback(database) : (database.prepare(sql) as KyselyStatement)
        statements.set(sql, statement)
      }
      return statement
    },
  }
}

/** SQLite rolls back by itself when the disk is full; a rollback after that would fail and hide the reason. */
function prepareRollback(database: SqliteDatabase.Database): KyselyStatement {
  const rollback = database.prepare('rollback') as KyselyStatement
  const nothing = { changes: 0, lastInsertRowid: 0 }
  return {
    reader: false,
    all: () => [],
    iterate: () => [].values(),
    run: () => (database.inTransaction ? rollback.run([]) : nothing),
  }
}
