import SqliteDatabase from 'better-sqlite3'
import { Kysely, SqliteDialect, type SqliteDatabase as KyselyDatabase } from 'kysely'
import type { Connections } from './database.ts'
import type { Tables } from './tables.ts'

/** Waiting for another process's lock blocks the thread, so it is short; the writer tries again without blocking. */
const busyTimeoutMs = 50
const statementsKeptMax = 500
const cacheKibibytes = 8_192
/**
 * Moving the journal into the file is felt by whoever commits just then: done more often it slows publishing down, done
 * less often it takes longer each time.
 */
const checkpointPages = 2000

type KyselyStatement = ReturnType<KyselyDatabase['prepare']>

/** Opens (and makes) an SQLite file. `:memory:` is a database that ends with the process. */
export function openSqlite(path: string): Connections {
  const database = open(path)
  const main = connect(database)
  // A database in memory belongs to its connection: a second one would be another database.
  const read = path === ':memory:' ? main : connect(open(path, { readonly: true }))
  return {
    dialect: 'sqlite',
    main,
    read,
    async close() {
      if (read !== main) await read.destroy()
      await main.destroy()
    },
  }
}

function open(path: string, options: { readonly?: boolean } = {}): SqliteDatabase.Database {
  const database = new SqliteDatabase(path, options)
  database.pragma(`busy_timeout = ${busyTimeoutMs}`)
  database.pragma(`cache_size = -${cacheKibibytes}`)
  if (!options.readonly) {
    database.pragma('journal_mode = WAL')
    // FULL: an answered write survives a power cut, not only a crash of the process.
    database.pragma('synchronous = FULL')
    database.pragma('foreign_keys = ON')
    database.pragma(`wal_autocheckpoint = ${checkpointPages}`)
  }
  return database
}

function connect(database: SqliteDatabase.Database): Kysely<Tables> {
  return new Kysely<Tables>({ dialect: new SqliteDialect({ database: memoiseStatements(database) }) })
}

/**
 * Kysely prepares every query anew, which costs six times what running it does; so statements are kept by their text.
 * A plain `begin` takes the write lock only at the first write, and can then fail half way: all of ours begin with it.
 */
function memoiseStatements(database: SqliteDatabase.Database): KyselyDatabase {
  const statements = new Map<string, KyselyStatement>()
  return {
    close: () => {
      statements.clear()
      database.close()
    },
    prepare(text) {
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
