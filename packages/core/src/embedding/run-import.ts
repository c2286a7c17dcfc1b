import { posix } from 'node:path'
import { isRegistryError, RegistryError, type PathReason, type Warning } from '@skillstead/protocol'
import {
  isUnreadable,
  listStandIns,
  type SkillRecord,
  type Source,
  type SourceItem,
} from '@skillstead/skill-format/archives'
import type { CatalogueContext } from '../catalogue/context/catalogue-context.ts'
import { type ImportedVersion, importVersions, type ImportOutcome } from '../catalogue/publishing/import-versions.ts'
import type { Caller } from '../kernel/caller.ts'
import { createNamer, type ImportName } from './import-names.ts'

/** The result of an import. Every record is counted as taken, unchanged or refused. */
export interface ImportSummary {
  /** Skills with newly stored content. */
  taken: number
  unchanged: number
  /** Skills of which nothing could be stored. */
  refused: number
  versionsCreated: number
  versionsUnchanged: number
  versionsRefused: number
  /** Versions in quarantine because of their scan. */
  versionsQuarantined: number
  /** Files that the source names without their content. */
  filesMissing: number
  /** Number of versions per warning code. */
  warnings: Record<string, number>
  /** The first files that were omitted; paths are relative to the source. */
  omitted: PathReason[]
  /**
   * The first files that were changed, or that have a Git LFS pointer or the target of a link in place of their
   * content; paths are relative to the source.
   */
  changed: PathReason[]
  /** The first stored skills that a publish would refuse, each with what is wrong in its SKILL.md. */
  invalid: { id: string; reason: string }[]
  /** The first stored versions in which the scan found something, each with its worst finding. */
  flagged: { id: string; reason: string }[]
  /** Reasons for the first refused skills. */
  refusals: { id: string; reason: string }[]
  seconds: number
}

/** Maximum versions of a batch: enough to share commits, few enough to use little memory. */
const batchVersions = 128
const batchBytes = 4 * 1024 * 1024
const batchesWaitingMax = 2
const refusalsReportedMax = 1000
const reasonsReportedMax = 10_000

interface ImportBatch {
  readonly records: { id: string; versions: number }[]
  readonly versions: ImportedVersion[]
  bytes: number
}

/** What became of a record; `fullName` and `version` are those of its last version that was not refused. */
interface ImportedRecord {
  readonly id: string
  readonly status: 'published' | 'unchanged' | 'quarantined' | 'refused'
  readonly fullName?: string | undefined
  readonly version?: string | undefined
  /** Why the record, or its first refused version, was refused. */
  readonly reason?: string | undefined
}

interface ImportRun {
  /** The owner of all skills. Default: the author that the source names, for each skill. */
  readonly owner: string | undefined
  /** Who publishes: a user under the user's own name only, the operator under any name. */
  readonly caller: Caller
  /** Receives the numbers of processed records and of their versions. */
  onProgress(records: number, versions: number): void
  /** Receives what became of each record, in no particular order. */
  onRecord?(record: ImportedRecord): void
  /** Ends the import between two batches. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Imports every skill of a source with its history. Throws when the import ends early because of a failure that does
 * not concern a single record, such as a full disk, and the reason of an aborted signal.
 */
export async function runImport(context: CatalogueContext, source: Source, run: ImportRun): Promise<ImportSummary> {
  const { owner, signal } = run
  const summary = createSummary()
  const startedMs = performance.now()
  const nameOf = createNamer(owner)
  const waiting = new Set<Promise<void>>()
  let batch = createImportBatch()
  let failure: Error | undefined

  async function send(): Promise<void> {
    const sent = batch
    batch = createImportBatch()
    // A batch may fail while the next batch is read and nothing awaits the failed batch, so its failure is stored and
    // reported later.
    const task = importBatch(context, sent, summary, run)
      .catch((error: unknown) => {
        failure ??= toEarlyEndError(error, summary)
      })
      .finally(() => waiting.delete(task))
    waiting.add(task)
    if (waiting.size >= batchesWaitingMax) await Promise.race(waiting)
    if (failure) throw failure
  }

  async function finish(): Promise<void> {
    await send()
    await Promise.all(waiting)
    if (failure) throw failure
  }

  signal?.throwIfAborted()
  try {
    for await (const item of finishBeforeFailure(source.items, finish)) {
      signal?.throwIfAborted()
      if (isUnreadable(item)) {
        refuseRecord(summary, item.id, item.reason)
        run.onRecord?.({ id: item.id, status: 'refused', reason: item.reason })
        continue
      }
      const name = nameOf(item)
      if (!name) {
        const reason = 'It names no author. Pass the owner with --owner.'
        refuseRecord(summary, item.id, reason)
        run.onRecord?.({ id: item.id, status: 'refused', reason })
        continue
      }
      addToImportBatch(batch, item, name)
      summary.filesMissing += item.filesMissing
      addReasons(summary, item)
      if (batch.versions.length >= batchVersions || batch.bytes >= batchBytes) await send()
    }
    signal?.throwIfAborted()
    await finish()
  } finally {
    // No batch may still be written after the import has thrown.
    await Promise.all(waiting)
  }
  summary.seconds = (performance.now() - startedMs) / 1000
  return summary
}

async function importBatch(
  context: CatalogueContext,
  batch: ImportBatch,
  summary: ImportSummary,
  { caller, onProgress, onRecord }: ImportRun,
) {
  const outcomes = await importVersions(context, batch.versions, caller)
  let next = 0
  for (const { id, versions } of batch.records) {
    const own = outcomes.slice(next, next + versions)
    next += versions
    const created = own.filter((outcome) => !outcome.error && outcome.created).length
    const refused = own.filter((outcome) => outcome.error).length
    const quarantined = own.filter((outcome) => !outcome.error && outcome.quarantineId !== undefined).length
    if (refused === own.length) summary.refused += 1
    else if (created + quarantined > 0) summary.taken += 1
    else summary.unchanged += 1
    summary.versionsCreated += created
    summary.versionsRefused += refused
    summary.versionsQuarantined += quarantined
    summary.versionsUnchanged += own.length - created - refused - quarantined
    for (const outcome of own) {
      if (outcome.error) addRefusal(summary, id, outcome.error.message)
      else if (outcome.created) {
        countWarnings(summary, outcome.warnings)
        addInvalid(summary, id, outcome.warnings)
        addFlagged(summary, `${outcome.fullName}@${outcome.version}`, outcome.warnings)
      }
    }
    onRecord?.(toImportedRecord(id, own))
  }
  onProgress(batch.records.length, batch.versions.length)
}

function toImportedRecord(id: string, outcomes: readonly ImportOutcome[]): ImportedRecord {
  const reason = outcomes.find(({ error }) => error)?.error?.message
  const last = outcomes.findLast((outcome) => !outcome.error)
  if (!last || last.error) return { id, status: 'refused', reason }
  const { fullName, version, created, quarantineId } = last
  const status = quarantineId !== undefined ? 'quarantined' : created ? 'published' : 'unchanged'
  return { id, status, fullName, version, reason }
}

/** If reading the source fails, import the items that were read before reporting the failure. */
async function* finishBeforeFailure(items: Source['items'], finish: () => Promise<void>): AsyncGenerator<SourceItem> {
  try {
    yield* items
  } catch (error) {
    await finish()
    throw error
  }
}

/** The error of an import that ends early, with the code of its cause. */
function toEarlyEndError(error: unknown, { taken, unchanged }: ImportSummary): Error {
  const reason = error instanceof Error ? error.message.replace(/\.$/, '') : String(error)
  const done = `${taken + unchanged} skills were imported. Run the import again to continue.`
  const message = `The import ended early: ${reason}. ${done}`
  const cause = { cause: error }
  return isRegistryError(error) ? new RegistryError(error.code, message, cause) : new Error(message, cause)
}

/**
 * Adds a record to a batch: its history in order, then its current state if that differs from the last version. The
 * last of these versions gets the files.
 */
function addToImportBatch(batch: ImportBatch, record: SkillRecord, { owner, name, displayName }: ImportName): void {
  const { license, repository, history, skillMd, files } = record
  const common = { owner, name, displayName, license, repository }
  const last = history.at(-1)
  // Sources have no date for the current state, so it gets the date of the last version. Without a date, a current
  // state that equals an earlier version would be taken for that version.
  const now = { skillMd, publishedAt: last?.publishedAt }
  const versions: ImportedVersion[] = (last?.skillMd === skillMd ? history : [...history, now]).map((version) => ({
    ...common,
    ...version,
  }))
  versions[versions.length - 1] = { ...versions.at(-1)!, files }
  batch.versions.push(...versions)
  batch.records.push({ id: record.id, versions: versions.length })
  batch.bytes += versions.reduce((sum, version) => sum + version.skillMd.length, 0)
  batch.bytes += files.reduce((sum, { bytes }) => sum + bytes.length, 0)
}

function refuseRecord(summary: ImportSummary, id: string, reason: string): void {
  summary.refused += 1
  addRefusal(summary, id, reason)
}

function addRefusal(summary: ImportSummary, id: string, reason: string): void {
  if (summary.refusals.length < refusalsReportedMax) summary.refusals.push({ id, reason })
}

/** Codes of the warnings about content that an import accepts and a publish refuses. */
const invalidCodes: ReadonlySet<string> = new Set([
  'name_pattern',
  'version_ignored',
  'field_refused',
  'description_from_body',
])

function addInvalid({ invalid }: ImportSummary, id: string, warnings: readonly Warning[]): void {
  const reasons = warnings.filter(({ code }) => invalidCodes.has(code)).map(({ message }) => message)
  if (reasons.length > 0 && invalid.length < refusalsReportedMax) invalid.push({ id, reason: reasons.join(' ') })
}

function addFlagged({ flagged }: ImportSummary, id: string, warnings: readonly Warning[]): void {
  const worst = warnings.find(({ code }) => code === 'scan')
  if (worst && flagged.length < refusalsReportedMax) flagged.push({ id, reason: worst.message })
}

function addReasons(summary: ImportSummary, { id, files, omitted = [], changed = [] }: SkillRecord): void {
  const toSourcePath = ({ path, reason }: PathReason) => ({ path: posix.join(posix.dirname(id), path), reason })
  const add = (list: PathReason[], more: readonly PathReason[]) =>
    void list.push(...more.slice(0, reasonsReportedMax - list.length).map(toSourcePath))
  add(summary.omitted, omitted)
  // Git LFS pointers in place of files are found here, because sources do not look for them.
  add(summary.changed, [...changed, ...listStandIns(files)])
}

function countWarnings(summary: ImportSummary, warnings: readonly { code: string }[]): void {
  for (const code of new Set(warnings.map((warning) => warning.code))) {
    summary.warnings[code] = (summary.warnings[code] ?? 0) + 1
  }
}

function createImportBatch(): ImportBatch {
  return { records: [], versions: [], bytes: 0 }
}

function createSummary(): ImportSummary {
  const versions = { versionsCreated: 0, versionsUnchanged: 0, versionsRefused: 0, versionsQuarantined: 0 }
  return {
    taken: 0,
    unchanged: 0,
    refused: 0,
    ...versions,
    filesMissing: 0,
    warnings: {},
    omitted: [],
    changed: [],
    invalid: [],
    flagged: [],
    refusals: [],
    seconds: 0,
  }
}
