import { createHash, type Hash } from 'node:crypto'
import * as v from 'valibot'
import type { Column, ColumnType } from './portable-columns.ts'
import type { Row, Value } from './read-rows.ts'

/** The value of `format`, the first field of every export, which identifies the file format. */
export const exportFormat = 'skillstead-export'
/** Version of the file format. What the rows contain depends on the schema instead. */
export const exportVersion = 1

const Count = v.pipe(v.number(), v.integer(), v.minValue(0))
const columnTypes = ['integer', 'real', 'text', 'bytes'] as const satisfies readonly ColumnType[]

/** The first line: identifies the file and describes its tables. */
export const ExportHeader = v.object({
  format: v.literal(exportFormat),
  version: v.number(),
  /** The names of the schema's migrations. */
  schema: v.array(v.string()),
  /** The name, epoch and size of the log. */
  origin: v.string(),
  epoch: Count,
  log: v.object({ size: Count, rootHash: v.string() }),
  /** The type of the exported database. */
  dialect: v.picklist(['sqlite', 'postgres']),
  createdAt: v.string(),
  /** The columns of each table, in the order of the values in its rows. */
  tables: v.record(v.string(), v.record(v.string(), v.picklist(columnTypes))),
})
export type ExportHeader = v.InferOutput<typeof ExportHeader>

const TableSum = v.object({ rows: Count, digest: v.string() })
type TableSum = v.InferOutput<typeof TableSum>

/** The last line. A file without this line is incomplete. */
export const ExportFooter = v.object({
  end: v.literal(exportFormat),
  rows: Count,
  tables: v.record(v.string(), TableSum),
  /** Digest of all tables: equal for equal rows, of SQLite and of PostgreSQL. */
  digest: v.string(),
  /** Digest of the first line and the tables' digest. */
  file: v.string(),
})
export type ExportFooter = v.InferOutput<typeof ExportFooter>

/** Converts rows of a table to lines of the file. */
export function toExportLines(table: string, columns: readonly Column[], rows: readonly Row[]): string {
  const bytesAt = columns.flatMap(({ type }, i) => (type === 'bytes' ? [i] : []))
  let lines = ''
  for (const row of rows) {
    const line: Value[] = [table, ...row]
    for (const i of bytesAt) {
      const bytes = row[i]
      if (bytes instanceof Uint8Array)
        line[i + 1] = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
    }
    lines += `${JSON.stringify(line)}\n`
  }
  return lines
}

/** Computes the row counts and digests of a file while it is written or read. */
export class ExportSums {
  readonly #tables = new Map<string, { rows: number; hash: Hash }>()
  readonly #header: string

  /** `header`: the first line of the file, including its line end. */
  constructor(header: string) {
    this.#header = header
  }

  add(table: string, rows: number, lines: string | Uint8Array): void {
    const sum = this.#tables.get(table) ?? { rows: 0, hash: createHash('sha256') }
    sum.rows += rows
    sum.hash.update(lines)
    this.#tables.set(table, sum)
  }

  /** The sums so far, as a footer; includes tables without rows, in the order of the header. */
  toFooter(tables: readonly string[]): ExportFooter {
    const all = createHash('sha256')
    const sums: Record<string, TableSum> = {}
    let total = 0
    for (const table of tables) {
      const { rows, hash } = this.#tables.get(table) ?? { rows: 0, hash: createHash('sha256') }
      const digest = `sha256:${hash.copy().digest('hex')}`
      sums[table] = { rows, digest }
      total += rows
      all.update(`${table} ${rows} ${digest}\n`)
    }
    const digest = `sha256:${all.digest('hex')}`
    const file = createHash('sha256').update(this.#header).update(digest).digest('hex')
    return { end: exportFormat, rows: total, tables: sums, digest, file: `sha256:${file}` }
  }
}
