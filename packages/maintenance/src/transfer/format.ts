import { createHash, type Hash } from 'node:crypto'
import * as v from 'valibot'
import type { Column, ColumnType } from './portable-columns.ts'
import type { Row, Value } from './read-rows.ts'

/** The first thing in every export, by which it is recognised. */
export const exportFormat = 'skillstead-export'
/** Of the form of the file; what is in it goes by the schema. */
export const exportVersion = 1

const Count = v.pipe(v.number(), v.integer(), v.minValue(0))
const columnTypes = ['integer', 'real', 'text', 'bytes'] as const satisfies readonly ColumnType[]

/** The first line: what the file is, and what the values in its rows are. */
export const ExportHeader = v.object({
  format: v.literal(exportFormat),
  version: v.number(),
  /** The steps of the schema, by their names. */
  schema: v.array(v.string()),
  /** The name and the epoch of the log, and where it stood. */
  origin: v.string(),
  epoch: Count,
  log: v.object({ size: Count, rootHash: v.string() }),
  /** The database that it was read from. */
  dialect: v.picklist(['sqlite', 'postgres']),
  createdAt: v.string(),
  /** The columns of each table, in the order of the values in its rows. */
  tables: v.record(v.string(), v.record(v.string(), v.picklist(columnTypes))),
})
export type ExportHeader = v.InferOutput<typeof ExportHeader>

const TableSum = v.object({ rows: Count, digest: v.string() })
type TableSum = v.InferOutput<typeof TableSum>

/** The last line, without which a file is not whole. */
export const ExportFooter = v.object({
  end: v.literal(exportFormat),
  rows: Count,
  tables: v.record(v.string(), TableSum),
  /** Over the tables: the same for the same rows, whichever database they are from. */
  digest: v.string(),
  /** Over the first line and that. */
  file: v.string(),
})
export type ExportFooter = v.InferOutput<typeof ExportFooter>

/** Turns the values of a table's rows into the line that each is in a file. */
export function toLines(table: string, columns: readonly Column[], rows: readonly Row[]): string {
  const bytesAt = columns.flatMap(({ type }, i) => (type === 'bytes' ? [i] : []))
  let lines = ''
  for (const row of rows) {
    const line: Value[] = [table, ...row]
    for (const i of bytesAt) {
      const bytes = row[i]
      if (bytes instanceof Uint8Array) line[i + 1] = toBuffer(bytes).toString('base64')
    }
    lines += `${JSON.stringify(line)}\n`
  }
  return lines
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Adds up what goes into, or comes out of, one file. */
export class ExportSums {
  readonly #tables = new Map<string, { rows: number; hash: Hash }>()
  readonly #header: string

  /** Begins with the first line, line end and all. */
  constructor(header: string) {
    this.#header = header
  }

  add(table: string, rows: number, lines: string | Uint8Array): void {
    const sum = this.#tables.get(table) ?? { rows: 0, hash: createHash('sha256') }
    sum.rows += rows
    sum.hash.update(lines)
    this.#tables.set(table, sum)
  }

  /** The sums so far, for the footer; tables without rows among them, in the order of the header. */
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
