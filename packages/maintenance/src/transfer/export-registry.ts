import { createWriteStream, existsSync } from 'node:fs'
import { Readable, type Transform, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Kysely } from 'kysely'
import { toTimestamp } from '@skillstead/protocol'
import { type Clock, systemClock } from '@skillstead/core'
import {
  type BlobRow,
  type Bucket,
  type DatabaseLocation,
  type Dialect,
  mapInBatches,
  noBucketAdvice,
  openBucket,
  readTreeHead,
  type SchemaExtension,
  type Tables,
  toRoot,
} from '@skillstead/core/internal'
import { placeFile } from '../backup/place-file.ts'
import { readColumns, type Column } from './portable-columns.ts'
import { openRegistryReading, readSchema } from './open-reading.ts'
import { readTableRows, type Row } from './read-rows.ts'
import { toTableRules, type TableRules } from './portable-tables.ts'
import { createCompressor } from './compression.ts'
import {
  ExportSums,
  exportFormat,
  exportVersion,
  toExportLines,
  type ExportFooter,
  type ExportHeader,
} from './format.ts'
import { unlessStopped } from './stopped.ts'

/** Options of `exportRegistry`. */
export interface ExportOptions {
  /** The extensions that the registry is opened with; must include those with tables in the registry. Default: none. */
  readonly extensions?: readonly SchemaExtension[]
  /** Aborts the export and deletes its file. */
  readonly signal?: AbortSignal
  readonly clock?: Clock
  /** Called from time to time with the number of rows written so far. */
  readonly onProgress?: (rows: number) => void
}

/** The content of an export: rows and digest of each table, and a digest over all tables. */
export interface ExportSummary extends Omit<ExportFooter, 'end' | 'file'> {
  readonly origin: string
  readonly epoch: number
}

/** Size of the chunks that are written, in UTF-16 units. */
const chunkLength = 256 * 1024

/**
 * Exports all data of a registry as lines of JSON, as a consistent snapshot, while a node may serve it: to a new file,
 * compressed if its name ends in `.gz` or `.zst`, readable by its owner only and renamed to its name when complete; or
 * to a stream, which is ended unless it is standard output. {@link importRegistry} imports it into either database.
 *
 * Leaves out sessions and releases all leases. Throws if the database has another schema than this program's, and
 * `conflict` if the file exists.
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
  const bucket = from.blobs && (await openBucket(from.blobs))
  const write = () =>
    openRegistryReading(from, options.extensions, async (trx, dialect, used) => {
      const read = { trx, dialect, rules: toTableRules(used), bucket }
      if (typeof to !== 'string') return writeTo(to, read, options)
      let summary: ExportSummary | undefined
      await placeFile(to, async (partial) => {
        const file = createWriteStream(partial, { flags: 'r+' })
        try {
          summary = await writeTo(file, read, options, compressor)
        } finally {
          // If nothing was written, the pipeline has not closed the file.
          file.destroy()
        }
      })
      return summary!
    })
  try {
    return await unlessStopped(options.signal, write)
  } finally {
    await bucket?.objects.close()
  }
}

/** A consistent snapshot of a registry. */
export interface Reading {
  readonly trx: Kysely<Tables>
  readonly dialect: Dialect
  /** The tables of the registry. */
  readonly rules: TableRules
  readonly bucket?: Bucket | undefined
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

  const source = Readable.from(gatherExportLines(write()), { objectMode: false })
  const options = { signal, end: to !== process.stdout }
  await (compressor ? pipeline(source, compressor, to, options) : pipeline(source, to, options))
  const { rows, tables, digest } = footer!
  return { origin: header.origin, epoch: header.epoch, rows, tables, digest }
}

async function readHeader(read: Reading, clock: Clock) {
  const { trx, dialect } = read
  const columns = await readTableColumns(read)
  const meta = await trx.selectFrom('meta').selectAll().where('key', 'in', ['origin', 'epoch']).execute()
  const { origin, epoch } = Object.fromEntries(meta.map(({ key, value }) => [key, value]))
  if (origin === undefined) throw new Error('This registry is empty: it was never opened.')
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

/** The columns of every exported table, in the order of the tables. */
export async function readTableColumns({ trx, dialect, rules }: Reading): Promise<Map<string, Column[]>> {
  const columns = new Map<string, Column[]>()
  for (const table of rules.keys()) columns.set(table, await readColumns(trx, dialect, table))
  return columns
}

/** The rows of every table as lines of the export, in batches. */
export async function* readTables(
  { trx, dialect, rules, bucket }: Reading,
  columns: ReadonlyMap<string, readonly Column[]>,
): AsyncGenerator<{ table: string; lines: string; count: number }> {
  for (const [table, rule] of rules) {
    const those = columns.get(table)!
    for await (const read of readTableRows(trx, dialect, { table, rule, columns: those })) {
      const rows = table === 'blobs' ? await fillBlobRows(those, read, bucket) : read
      yield { table, lines: toExportLines(table, those, rows), count: rows.length }
    }
  }
}

/** Adds the contents from the bucket to their rows, because an export contains all contents. */
async function fillBlobRows(
  columns: readonly Column[],
  rows: readonly Row[],
  bucket: Bucket | undefined,
): Promise<readonly Row[]> {
  const at = (wanted: string) => columns.findIndex(({ name }) => name === wanted)
  const [digest, size, encoding, bytes] = [at('digest'), at('size'), at('encoding'), at('bytes')]
  return mapInBatches(rows, async (row) => {
    // A row without bytes is that of an empty file, or of a content in the bucket.
    if ((row[bytes] as Uint8Array).length > 0 || row[size] === 0) return row
    if (!bucket) throw new Error(noBucketAdvice)
    const opened = await bucket.open({
      digest: row[digest] as string,
      size: row[size] as number,
      encoding: row[encoding] as BlobRow['encoding'],
      bytes: new Uint8Array(),
      place: 'bucket',
    })
    return row.with(bytes, opened.bytes)
  })
}

async function* gatherExportLines(lines: AsyncIterable<string>): AsyncGenerator<Buffer> {
  let chunk = ''
  for await (const some of lines) {
    chunk += some
    if (chunk.length < chunkLength) continue
    yield Buffer.from(chunk)
    chunk = ''
  }
  yield Buffer.from(chunk)
}
