import { importVersions, systemCaller, type ImportedVersion, type Registry } from '@skillstead/core'
import { createNamer, type ImportName } from './names.ts'
import { isUnreadable, type SkillRecord, type Source, type SourceItem } from './records.ts'

/** What became of a source. Every record is taken, unchanged or refused. */
export interface ImportSummary {
  /** Skills of which something new was stored. */
  taken: number
  unchanged: number
  /** Skills of which nothing could be stored. */
  refused: number
  versionsCreated: number
  versionsUnchanged: number
  versionsRefused: number
  /** Versions that wait for an administrator because of their scan. */
  versionsQuarantined: number
  /** Files that the source names without holding their content. */
  filesMissing: number
  /** How many versions came with each warning. */
  warnings: Record<string, number>
  /** Why each was refused, the first of them. */
  refusals: { id: string; reason: string }[]
  seconds: number
}

/** So many versions are handed to the registry at a time: enough to share commits, too few to be felt in memory. */
const batchVersions = 128
const batchBytes = 4 * 1024 * 1024
const batchesWaitingMax = 2
const refusalsToldMax = 1000

interface Batch {
  readonly records: { id: string; versions: number }[]
  readonly versions: ImportedVersion[]
  bytes: number
}

/**
 * Imports every skill of a source with its history. `onProgress` hears how many records are done. Throws where a
 * failure that is none of a record's own, such as a full disk, ends the import early.
 */
export async function runImport(
  registry: Registry,
  source: Source,
  owner: string | undefined,
  onProgress: (records: number) => void,
): Promise<ImportSummary> {
  const summary = createSummary()
  const startedMs = performance.now()
  const nameOf = createNamer(owner)
  const waiting = new Set<Promise<void>>()
  let batch = createBatch()
  let failure: Error | undefined

  async function send(): Promise<void> {
    const sent = batch
    batch = createBatch()
    // A batch may fail while the next is being read and nobody waits for it, so the failure is kept until it is told.
    const task = importBatch(registry, sent, summary, onProgress)
      .catch((error: unknown) => {
        failure ??= toEarlyEnd(error, summary)
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

  for await (const item of finishFirst(source.items, finish)) {
    if (isUnreadable(item)) {
      refuse(summary, item.id, item.reason)
      continue
    }
    const name = nameOf(item)
    if (!name) {
      refuse(summary, item.id, 'It names no author; say whose it is with --owner.')
      continue
    }
    addToBatch(batch, item, name)
    summary.filesMissing += item.filesMissing
    countWarnings(summary, item.warnings ?? [])
    if (batch.versions.length >= batchVersions || batch.bytes >= batchBytes) await send()
  }
  await finish()
  summary.seconds = (performance.now() - startedMs) / 1000
  return summary
}

async function importBatch(
  registry: Registry,
  batch: Batch,
  summary: ImportSummary,
  onProgress: (records: number) => void,
) {
  const outcomes = await importVersions(registry, batch.versions, systemCaller)
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
      if (outcome.error) tell(summary, id, outcome.error.message)
      else if (outcome.created) countWarnings(summary, outcome.warnings)
    }
  }
  onProgress(batch.records.length)
}

/** What was read of a source before it broke is imported before it is told that it did. */
async function* finishFirst(items: Source['items'], finish: () => Promise<void>): AsyncGenerator<SourceItem> {
  try {
    yield* items
  } catch (error) {
    await finish()
    throw error
  }
}

function toEarlyEnd(error: unknown, { taken, unchanged }: ImportSummary): Error {
  const reason = error instanceof Error ? error.message.replace(/\.$/, '') : String(error)
  const done = `${taken + unchanged} skills are in; import it again to go on from there.`
  return new Error(`The import ended early: ${reason}. ${done}`, { cause: error })
}

/** The history in its order; what is there now only where it differs from the last, else its files go with that. */
function addToBatch(batch: Batch, record: SkillRecord, { owner, name, displayName }: ImportName): void {
  const { license, repository, history, skillMd, files } = record
  const common = { owner, name, displayName, license, repository }
  const last = history.at(-1)
  // No source dates what is there now, but it is no older than its history; without a date, text that came back from
  // an earlier version would be taken for that version.
  const now = { skillMd, publishedAt: last?.publishedAt }
  const versions = (last?.skillMd === skillMd ? history : [...history, now]).map((version) => ({
    ...common,
    ...version,
  }))
  versions[versions.length - 1] = { ...versions.at(-1)!, files } as ImportedVersion & (typeof versions)[number]
  batch.versions.push(...versions)
  batch.records.push({ id: record.id, versions: versions.length })
  batch.bytes += versions.reduce((sum, version) => sum + version.skillMd.length, 0)
  batch.bytes += files.reduce((sum, { bytes }) => sum + bytes.length, 0)
}

function refuse(summary: ImportSummary, id: string, reason: string): void {
  summary.refused += 1
  tell(summary, id, reason)
}

function tell(summary: ImportSummary, id: string, reason: string): void {
  if (summary.refusals.length < refusalsToldMax) summary.refusals.push({ id, reason })
}

function countWarnings(summary: ImportSummary, warnings: readonly { code: string }[]): void {
  for (const code of new Set(warnings.map((warning) => warning.code))) {
    summary.warnings[code] = (summary.warnings[code] ?? 0) + 1
  }
}

function createBatch(): Batch {
  return { records: [], versions: [], bytes: 0 }
}

function createSummary(): ImportSummary {
  const versions = { versionsCreated: 0, versionsUnchanged: 0, versionsRefused: 0, versionsQuarantined: 0 }
  return { taken: 0, unchanged: 0, refused: 0, ...versions, filesMissing: 0, warnings: {}, refusals: [], seconds: 0 }
}
