import { toErrorText } from '@skillstead/protocol'
import type { Dialect, WriteTransaction } from '@skillstead/core/internal'
import type { Column } from './portable-columns.ts'
import type { Row, Value } from './read-rows.ts'
import { insertRows } from './write-rows.ts'
import { ExportSums, type ExportFooter, type ExportHeader } from './format.ts'
import { toFooter, toTruncated, type ExportLine, type OpenExport } from './read-export.ts'

/** The columns of each table, in the order in which an export has the tables. */
type Columns = ReadonlyMap<string, readonly Column[]>

/** A batch is stored when it has this number of rows, or when its lines have this number of bytes. */
const batchRows = 1000
const batchBytes = 1024 * 1024

/** The database's columns in the order of the export. Throws if they differ. */
export function matchColumns({ tables }: ExportHeader, known: Columns): Columns {
  const unknown = Object.keys(tables).find((table) => !known.has(table))
  if (unknown !== undefined) throw toMismatch(`The export has an unknown table ${unknown}.`)
  const matched = new Map<string, Column[]>()
  for (const [table, columns] of known) {
    const given = tables[table]
    if (!given) throw toMismatch(`The table ${table} is missing from the export.`)
    matched.set(table, matchTable(table, given, columns))
  }
  return matched
}

function matchTable(table: string, given: Readonly<Record<string, string>>, known: readonly Column[]): Column[] {
  const missing = known.find(({ name }) => given[name] === undefined)
  if (missing) throw toMismatch(`The column ${table}.${missing.name} is missing from the export.`)
  return Object.entries(given).map(([name, type]) => {
    const column = known.find((one) => one.name === name)
    if (!column) throw toMismatch(`The export has an unknown column ${table}.${name}.`)
    if (column.type === type) return column
    throw toMismatch(`The column ${table}.${name} is ${type} in the export but ${column.type} in the database.`)
  })
}

function toMismatch(what: string): Error {
  return new Error(`${what} The export is damaged or of another version: import it with the version that wrote it.`)
}

interface Loading {
  readonly trx: WriteTransaction
  readonly dialect: Dialect
  readonly columns: Columns
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((rows: number) => void) | undefined
}

/** Stores every row of an export. Throws if the file is incomplete or does not match its footer. */
export async function loadRows(opened: OpenExport, loading: Loading): Promise<ExportFooter> {
  const sums = new ExportSums(opened.first)
  const batch = new Batch(loading)
  let footer: ExportFooter | undefined
  let rows = 0
  for await (const lines of opened.lines) {
    loading.signal?.throwIfAborted()
    for (const line of lines) {
      if (footer) throw new Error(`Line ${line.number} comes after the end of the export.`)
      if (Array.isArray(line.value)) {
        const table = await batch.add(line, line.value)
        sums.add(table, 1, line.bytes)
      } else footer = toFooter(line)
    }
    rows += lines.length
    loading.onProgress?.(rows)
  }
  if (!footer) throw toTruncated()
  await batch.flush()
  const { digest, file } = sums.toFooter([...loading.columns.keys()])
  if (digest === footer.digest && file === footer.file) return footer
  throw new Error('The export is damaged: its rows do not match the checksums in its last line. Nothing was imported.')
}

/**
 * Rows of one table that are stored together. An export has the tables in dependency order, so that no row precedes a
 * row that it refers to.
 */
class Batch {
  readonly #loading: Loading
  readonly #names: readonly string[]
  #table: string
  #rows: Row[] = []
  #bytes = 0
  #line = 1

  constructor(loading: Loading) {
    this.#loading = loading
    this.#names = [...loading.columns.keys()]
    this.#table = this.#names[0]!
  }

  async add(line: ExportLine, [name, ...values]: readonly unknown[]): Promise<string> {
    const table = name as string
    if (table !== this.#table || this.#rows.length >= batchRows || this.#bytes >= batchBytes) {
      await this.flush()
      if (table !== this.#table) this.#turnTo(table, line)
    }
    this.#rows.push(toImportedRow(this.#loading, { table, values, line }))
    this.#bytes += line.bytes.length
    this.#line = line.number
    return table
  }

  async flush(): Promise<void> {
    const { trx, dialect, columns } = this.#loading
    const [table, rows] = [this.#table, this.#rows]
    this.#rows = []
    this.#bytes = 0
    if (rows.length === 0) return
    try {
      await insertRows(trx, dialect, { table, columns: columns.get(table)!, rows })
    } catch (cause) {
      const reason = toErrorText(cause)
      throw new Error(`The rows up to line ${this.#line} cannot be stored in the table ${table}: ${reason}`, { cause })
    }
  }

  #turnTo(table: string, { number }: ExportLine): void {
    const [before, now] = [this.#names.indexOf(this.#table), this.#names.indexOf(table)]
    if (now === -1) throw new Error(`Line ${number} has an unknown table ${String(table)}.`)
    if (now < before)
      throw new Error(`Line ${number} is in the wrong place: a row of ${table} comes after rows of ${this.#table}.`)
    this.#table = table
  }
}

interface Given {
  readonly table: string
  readonly values: readonly unknown[]
  readonly line: ExportLine
}

function toImportedRow({ columns, dialect }: Loading, { table, values, line }: Given): Row {
  const those = columns.get(table)!
  if (values.length !== those.length) {
    throw new Error(`Line ${line.number} is malformed: ${table} has ${those.length} columns, not ${values.length}.`)
  }
  return those.map((column, i) => {
    const value = toColumnValue(column, values[i])
    if (value === undefined) {
      const wanted = `${column.type}${column.isNullable ? ' or null' : ''}`
      throw new Error(`Line ${line.number} is malformed: ${table}.${column.name} must be ${wanted}.`)
    }
    if (dialect === 'postgres' && typeof value === 'string' && value.includes('\0')) {
      throw new Error(
        `Line ${line.number}: ${table}.${column.name} contains a NUL character, which PostgreSQL cannot store.`,
      )
    }
    return value
  })
}

/** The value as the database stores it; undefined if the column cannot have the value. */
function toColumnValue({ type, isNullable }: Column, value: unknown): Value | undefined {
  if (value === null) return isNullable ? null : undefined
  if (type === 'integer') return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined
  if (type === 'real') return typeof value === 'number' ? value : undefined
  if (typeof value !== 'string') return undefined
  return type === 'text' ? value : Buffer.from(value, 'base64')
}
