import type { Readable } from 'node:stream'
import {
  type Clock,
  type DatabaseLocation,
  type Dialect,
  hasExtension,
  indexTexts,
  placeFile,
  readTreeHead,
  type SchemaExtension,
  startEpoch,
  systemClock,
  toRoot,
  type WriteTransaction,
} from '@skillstead/core/internal'
import { fillDatabase } from './open-target.ts'
import { toTableRules } from './portable-tables.ts'
import { moveCounters } from './write-rows.ts'
import { readTableColumns, readTables, type ExportSummary, type Reading } from './export-registry.ts'
import { ExportSums, type ExportFooter } from './format.ts'
import { loadRows, matchColumns } from './load-rows.ts'
import { preparePlace } from './no-registry.ts'
import { openExport, type OpenExport } from './read-export.ts'
import { readSealedKeys, type SealedKeys } from './sealed.ts'
import { unlessStopped } from './stopped.ts'
import { findRowProblem } from './verify-rows.ts'

export interface ImportOptions {
  /** The extensions that the registry is opened with; those whose tables it has are needed. Default: none. */
  readonly extensions?: readonly SchemaExtension[]
  /** Ends the import; nothing of it is kept. */
  readonly signal?: AbortSignal
  readonly clock?: Clock
  /** Told how many rows were taken in. */
  readonly onProgress?: (rows: number) => void
  /** What API keys for upstreams were sealed with, to be tried on them. */
  readonly secretKey?: Uint8Array
}

/** What was taken in; `epoch` is the one that begins. */
export interface ImportSummary extends ExportSummary {
  readonly sealed: SealedKeys
}

/**
 * Takes in what {@link exportRegistry} wrote, on either database: into a file that is not there yet, or an empty
 * PostgreSQL database; all of it or nothing. What is stored in the end is read again and compared with the digests of the
 * export, contents with theirs, and the log with its tree. A new epoch begins, so that mirrors of the registry notice.
 *
 * Throws a sentence for what is cut off, malformed, of another schema, or not what its digests say, and `conflict` where
 * there is a registry.
 *
 * @example
 * await importRegistry('skills.ndjson.gz', { databaseUrl: 'postgres://localhost/skills' })
 */
export async function importRegistry(
  from: string | Readable,
  to: DatabaseLocation,
  options: ImportOptions = {},
): Promise<ImportSummary> {
  if (to.path !== undefined) preparePlace(to.path)
  const opened = await openExport(from, options.extensions ?? [])
  try {
    return await unlessStopped(options.signal, () => fill(opened, to, options))
  } finally {
    opened.close()
  }
}

async function fill(opened: OpenExport, to: DatabaseLocation, options: ImportOptions): Promise<ImportSummary> {
  const { path } = to
  const { extensions = [] } = options
  if (path === undefined)
    return fillDatabase({ ...to, extensions }, (trx, dialect) => takeIn(opened, trx, dialect, options))
  let summary: ImportSummary | undefined
  await placeFile(path, async (partial) => {
    summary = await fillDatabase({ path: partial, extensions }, (trx, dialect) => takeIn(opened, trx, dialect, options))
  })
  return summary!
}

async function takeIn(
  opened: OpenExport,
  trx: WriteTransaction,
  dialect: Dialect,
  { signal, clock = systemClock, onProgress, secretKey, extensions = [] }: ImportOptions,
): Promise<ImportSummary> {
  const { origin, epoch } = opened.header
  const used = extensions.filter((extension) => hasExtension(opened.header.schema, extension))
  const read = { trx, dialect, rules: toTableRules(used) }
  const columns = matchColumns(opened.header, await readTableColumns(read))
  const footer = await loadRows(opened, { trx, dialect, columns, signal, onProgress })
  await indexTexts(trx, dialect)
  await moveCounters(trx, dialect)
  await verify(opened, { read, columns, footer, signal })
  const { rows, tables, digest } = footer
  const begun = await startEpoch(trx, epoch, clock.now())
  return { origin, epoch: begun, rows, tables, digest, sealed: await readSealedKeys(trx, used, secretKey) }
}

interface TakenIn {
  readonly read: Reading
  readonly columns: ReturnType<typeof matchColumns>
  readonly footer: ExportFooter
  readonly signal: AbortSignal | undefined
}

/** What is stored against what the export says that it is. */
async function verify({ header, first }: OpenExport, { read, columns, footer, signal }: TakenIn): Promise<void> {
  const sums = new ExportSums(first)
  for await (const { table, lines, count } of readTables(read, columns)) {
    signal?.throwIfAborted()
    sums.add(table, count, lines)
  }
  const names = [...read.rules.keys()]
  const stored = sums.toFooter(names)
  const other = names.find((table) => stored.tables[table]!.digest !== footer.tables[table]?.digest)
  if (other !== undefined) {
    throw new Error(`What was stored of the table ${other} is not what the export has. Nothing was taken in.`)
  }
  const problem = await findRowProblem(read.trx, read.dialect)
  if (problem) throw new Error(`The export is not sound: ${problem} Nothing was taken in.`)
  const { size, frontier } = await readTreeHead(read.trx)
  if (size !== header.log.size || toRoot(frontier).toString('base64') !== header.log.rootHash) {
    throw new Error('The export is not sound: its log is not the one that its first line says. Nothing was taken in.')
  }
}
