import { createWriteStream, existsSync } from 'node:fs'
import { Readable, type Transform, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Kysely } from 'kysely'
import { toTimestamp } from '@skillstead/protocol'
import {
  type Clock,
  type DatabaseLocation,
  type Dialect,
  placeFile,
  readTreeHead,
  systemClock,
  type Tables,
  toRoot,
  type SchemaExtension,
} from '@skillstead/core/internal'
import { readColumns, type Column } from './portable-columns.ts'
import { openReading, readSchema } from './open-reading.ts'
import { readRows } from './read-rows.ts'
import { toTableRules, type TableRules } from './portable-tables.ts'
import { createCompressor } from './compression.ts'
import { ExportSums, exportFormat, exportVersion, toLines, type ExportFooter, type ExportHeader } from './format.ts'
import { unlessStopped } from './stopped.ts'

export interface ExportOptions {
  /** The extensions that the registry is opened with; those whose tables it has are needed. Default: none. */
  readonly extensions?: readonly SchemaExtension[]
  /** Ends the export; nothing is kept of its file. */
  readonly signal?: AbortSignal
  readonly clock?: Clock
  /** Told how many rows were written. */
  readonly onProgress?: (rows: number) => void
}

/** What an export has: rows and digest of each table, and a digest over all of them. */
export interface ExportSummary extends Omit<ExportFooter, 'end' | 'file'> {
  readonly origin: string
  readonly epoch: number
}

/** What is gathered before it is handed on, in UTF-16 units. */
const chunkLength = 256 * 1024

/**
 * Writes everything that a registry has as lines of JSON, from one moment, while a node may go on serving it: to a new
 * file, compressed where its name ends in `.gz` or `.zst`, which only its owner may read and which has its name once it
 * is whole; or to a stream, which ends with it unless it
 * is standard output. {@link importRegistry} reads it on either database.
 *
 * Sessions are left out, and nobody holds what a running process held. Throws a sentence where the database is of another
 * schema than this program's, and `conflict` where there is a file of that name.
 *
 * @example
 * await exportRegistry({ path: 'skills.db' }, 'skills.ndjson.gz')
 */
export async function exportRegistry(
  from: DatabaseLocation,
  to: string | Writable,
  options: ExportOptions = {},
): Promise<ExportSummary> {
  if (from.path !== undefined && !existsSync(from.path)) throw new Error(`There is no registry at ${from.path}.`)
  const compressor = typeof to === 'string' ? createCompressor(to) : undefined
  const write = () =>
    openReading(from, options.extensions, async (trx, dialect, used) => {
      const read = { trx, dialect, rules: toTableRules(used) }
      if (typeof to !== 'string') return writeTo(to, read, options)
      let summary: ExportSummary | undefined
      await placeFile(to, async (partial) => {
        const file = createWriteStream(partial, { flags: 'r+' })
        try {
          summary = await writeTo(file, read, options, compressor)
        } finally {
          // Where nothing was written it is still open.
          file.destroy()
        }
      })
      return summary!
    })
  return unlessStopped(options.signal, write)
}

/** A registry that is read from one moment. */
export interface Reading {
  readonly trx: Kysely<Tables>
  readonly dialect: Dialect
  /** The tables that it has. */
  readonly rules: TableRules
}

async function writeTo(
  to: Writable,
  read: Reading,
  { signal, onProgress, clock = systemClock }: ExportOptions,
  compressor?: Transform,
): Promise<ExportSummary> {
  const { header, columns } = await readHeader(read, clock)
  const first = `${JSON.stringify(header)}\n`
  const sums = new ExportSums(first)
  let footer: ExportFooter | undefined

  async function* write(): AsyncGenerator<string> {
    yield first
    let rows = 0
    for await (const { table, lines, count } of readTables(read, columns)) {
      sums.add(table, count, lines)
      onProgress?.((rows += count))
      yield lines
    }
    footer = sums.toFooter([...read.rules.keys()])
    yield `${JSON.stringify(footer)}\n`
  }

  const source = Readable.from(gather(write()), { objectMode: false })
  const streams = compressor ? [source, compressor, to] : [source, to]
  await pipeline(streams as [Readable, Writable], { signal, end: to !== process.stdout })
  const { rows, tables, digest } = footer!
  return { origin: header.origin, epoch: header.epoch, rows, tables, digest }
}

async function readHeader(read: Reading, clock: Clock) {
  const { trx, dialect } = read
  const columns = await readTableColumns(read)
  const meta = await trx.selectFrom('meta').selectAll().where('key', 'in', ['origin', 'epoch']).execute()
  const { origin, epoch } = Object.fromEntries(meta.map(({ key, value }) => [key, value]))
  if (origin === undefined) throw new Error('This registry is empty: nothing was ever opened or stored in it.')
  const { size, frontier } = await readTreeHead(trx)
  const header: ExportHeader = {
    format: exportFormat,
    version: exportVersion,
    schema: await readSchema(trx, dialect),
    origin,
    epoch: Number(epoch),
    log: { size, rootHash: toRoot(frontier).toString('base64') },
    dialect,
    createdAt: toTimestamp(clock.now()),
    tables: Object.fromEntries(
      [...columns].map(([table, those]) => [table, Object.fromEntries(those.map(({ name, type }) => [name, type]))]),
    ),
  }
  return { header, columns }
}

/** The columns of every table that an export has, in their order. */
export async function readTableColumns({ trx, dialect, rules }: Reading): Promise<Map<string, Column[]>> {
  const columns = new Map<string, Column[]>()
  for (const table of rules.keys()) columns.set(table, await readColumns(trx, dialect, table))
  return columns
}

/** The rows of every table as lines, a batch at a time. */
export async function* readTables(
  { trx, dialect, rules }: Reading,
  columns: ReadonlyMap<string, readonly Column[]>,
): AsyncGenerator<{ table: string; lines: string; count: number }> {
  for (const [table, rule] of rules) {
    const those = columns.get(table)!
    for await (const rows of readRows(trx, dialect, { table, rule, columns: those })) {
      yield { table, lines: toLines(table, those, rows), count: rows.length }
    }
  }
}

async function* gather(lines: AsyncIterable<string>): AsyncGenerator<Buffer> {
  let chunk = ''
  for await (const some of lines) {
    chunk += some
    if (chunk.length < chunkLength) continue
    yield Buffer.from(chunk)
    chunk = ''
  }
  yield Buffer.from(chunk)
}
