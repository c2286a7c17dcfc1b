import SqliteDatabase from 'better-sqlite3'
import pg from 'pg'
import { onTestFinished, vi } from 'vitest'

/** A statement that was sent to a database of this process. */
interface SentStatement {
  readonly text: string
  /** Whether the connection prepares the statement once. */
  readonly isPrepared: boolean
}

/** Records each statement that this process runs on SQLite or sends to PostgreSQL, until the test ends. */
export function recordStatements(): SentStatement[] {
  const sent: SentStatement[] = []
  const database = new SqliteDatabase(':memory:')
  const statement = Object.getPrototypeOf(database.prepare('select 1')) as SqliteDatabase.Statement
  database.close()
  const undo = [wrap(pg.Client.prototype as unknown as Wrapped, 'query', (_, [query]) => sent.push(toSent(query)))]
  for (const method of ['run', 'all', 'get', 'iterate'] as const) {
    const record = (one: object) => sent.push({ text: (one as typeof statement).source, isPrepared: true })
    undo.push(wrap(statement as unknown as Wrapped, method, record))
  }
  onTestFinished(() => undo.forEach((one) => one()))
  return sent
}

type Wrapped = Record<string, (...given: unknown[]) => unknown>

function wrap(prototype: Wrapped, method: string, record: (one: object, given: unknown[]) => void): () => void {
  const original = prototype[method]!
  const spy = vi.spyOn(prototype, method).mockImplementation(function recorded(this: object, ...given: unknown[]) {
    record(this, given)
    return original.apply(this, given)
  })
  return () => spy.mockRestore()
}

function toSent(query: unknown): SentStatement {
  if (typeof query === 'string') return { text: query, isPrepared: false }
  const { text, name } = query as pg.QueryConfig
  return { text, isPrepared: name !== undefined }
}
