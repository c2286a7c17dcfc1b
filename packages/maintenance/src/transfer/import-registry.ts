import type { Readable } from 'node:stream'
import { type Clock, systemClock } from '@skillstead/core'
import {
  type DatabaseLocation,
  type Dialect,
  hasExtension,
  readTreeHead,
  type SchemaExtension,
  startEpoch,
  toRoot,
  type WriteTransaction,
} from '@skillstead/core/internal'
import { placeFile } from '../backup/place-file.ts'
import { indexTexts } from '../doctor/skill-texts.ts'
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

/** Options of `importRegistry`. */
export interface ImportOptions {
  /** The extensions that the registry is opened with; must include those with tables in the export. Default: none. */
  readonly extensions?: readonly SchemaExtension[]
  /** Aborts the import and discards its data. */
  readonly signal?: AbortSignal
  readonly clock?: Clock
  /** Called from time to time with the number of rows imported so far. */
  readonly onProgress?: (rows: number) => void
  /** The secret key that sealed the API keys for upstreams; the import reports whether this key opens them. */
  readonly secretKey?: Uint8Array
}

/**
 * What an import stored: rows and digest of each table, the new `epoch`, and in `sealed` whether the secret key opens
 * the sealed keys.
 */
export interface ImportSummary extends ExportSummary {
  readonly sealed: SealedKeys
}

/**
 * Imports an export of {@link exportRegistry} into a new file or an empty PostgreSQL database, all of it or nothing.
 * Reads the stored data again and compares it with the digests of the export, each content with its own digest, and the
 * log with its tree. Starts a new epoch, so that mirrors of the registry notice.
 *
 * Throws if the export is truncated, malformed, of another schema or does not match its digests, and `conflict` if
 * there is already a registry.
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
    return await unlessStopped(options.signal, () => fillEmptyDatabase(opened, to, options))
  } finally {
    opened.close()
  }
}

async function fillEmptyDatabase(
  opened: OpenExport,
  to: DatabaseLocation,
  options: ImportOptions,
): Promise<ImportSummary> {
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
  await verifyImport(opened, { read, columns, footer, signal })
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

/** Compares stored rows with the export's digests, contents with their digests, and the log with the header. */
async function verifyImport({ header, first }: OpenExport, { read, columns, footer, signal }: TakenIn): Promise<void> {
  const sums = new ExportSums(first)
  for await (const { table, lines, count } of readTables(read, columns)) {
    signal?.throwIfAborted()
    sums.add(table, count, lines)
  }
  const names = [...read.rules.keys()]
  const stored = sums.toFooter(names)
  const other = names.find((table) => stored.tables[table]!.digest !== footer.tables[table]?.digest)
  if (other !== undefined) {
    throw new Error(`After the import, the table ${other} differed from the export. The import was undone.`)
  }
  const problem = await findRowProblem(read.trx, read.dialect)
  if (problem) throw new Error(`The export is damaged: ${problem} Nothing was imported.`)
  const { size, frontier } = await readTreeHead(read.trx)
  if (size !== header.log.size || toRoot(frontier).toString('base64') !== header.log.rootHash) {
    throw new Error(
      'The export is damaged: its log is not the one that its first line describes. Nothing was imported.',
    )
  }
}
