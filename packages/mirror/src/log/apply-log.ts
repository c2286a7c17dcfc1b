import { parseEntry } from '../applying/entry-data.ts'
import { applyEntries, prepareEntries, type PreparedEntries } from '../applying/apply-entries.ts'
import type { MirrorOutcome, MirrorSource } from '../applying/mirrored-types.ts'
import type { WriteTransaction } from '@skillstead/core/internal'
import { requireActive, updateOwn, type Run } from '../run.ts'
import { createRefusals, type Refusals } from '../store/refusals.ts'
import type { FeedEntry, Filters, LogSource } from '../types.ts'
import { readAhead } from './read-ahead.ts'
import { fetchBlobs, toDeclaredBytes } from './fetch-blobs.ts'
import { findUnverified } from './find-unverified.ts'
import type { Known } from './judge-page.ts'
import { guardVisibility, readSuperseded, type HidingGuard } from './guard-removals.ts'
import { createWanted, type Wanted } from './wanted-entries.ts'
import { selectUpstreamEntries } from '../store/upstream-log.ts'

/** Maximum size of a batch: number of entries, and bytes of their content as the entries declare it. */
const batchMax = 100
const batchBytesMax = 4 * 1024 * 1024
/** Number of batches that are fetched and inspected while another batch is written. All these batches are in memory. */
const batchesAhead = 2

/** A batch of consecutive entries with their content. */
interface Batch {
  readonly entries: readonly FeedEntry[]
  readonly contents: ReadonlyMap<string, Uint8Array>
  /** The entries in groups of consecutive ones. All entries of a group are applied, or all are skipped. */
  readonly groups: readonly Group[]
}

interface Group {
  readonly entries: readonly FeedEntry[]
  /** The entries ready to be written; undefined for skipped entries. */
  readonly prepared: Promise<PreparedEntries> | undefined
}

/** The parts of one call of {@link applyLog}. */
interface Application {
  readonly run: Run
  readonly source: LogSource
  readonly known: Known
  readonly wanted: Wanted
  readonly refusals: Refusals
  readonly guard: HidingGuard
}

/**
 * Applies the verified entries of an upstream's log to the catalogue. Each transaction also advances the stored
 * position, so that the next run continues where a killed run stopped. While some entries are written, the next ones
 * are fetched and inspected.
 */
export async function applyLog(run: Run, source: LogSource, known: Known, applied: number): Promise<void> {
  if (applied >= known.verified) return
  const guard = await guardVisibility(run, applied, known.verified)
  const application: Application = {
    run,
    source,
    known,
    wanted: await createWanted(run, await readSuperseded(run, applied, known.verified)),
    refusals: await createRefusals(run.parts.context, run.upstream),
    guard,
  }
  for await (const { entries, groups } of readAhead(readBatches(application, applied), batchesAhead)) {
    for (const group of groups) await applyGroup(application, group)
    run.progress({ phase: 'applying', done: entries.at(-1)!.seq, total: known.verified })
  }
}

async function* readBatches(application: Application, applied: number): AsyncGenerator<Batch> {
  const { run, known } = application
  let recent: readonly Batch[] = []
  for (let last = applied; last < known.verified;) {
    requireActive(run)
    const batch = await prepareStaged(application, last, new Map(recent.flatMap(({ contents }) => [...contents])))
    recent = [...recent, batch].slice(-batchesAhead)
    last = batch.entries.at(-1)!.seq
    yield batch
  }
}

/**
 * Reads the batch of entries after a position, fetches their content and starts to inspect it. `cached`: content that
 * was fetched for earlier entries, which are not written yet.
 */
async function prepareStaged(
  application: Application,
  after: number,
  cached: ReadonlyMap<string, Uint8Array>,
): Promise<Batch> {
  const { run, source, known, wanted } = application
  const all = await readStagedEntries(run, after, known.verified)
  const chosen = new Set(all.filter((entry) => wanted.wants(entry)))
  const entries = takeBatch(all, chosen)
  const selected = entries.filter((entry) => chosen.has(entry))
  const reasons = new Map<FeedEntry, string>()
  for (const entry of selected) {
    const reason = wanted.refuse(entry)
    if (reason !== undefined) reasons.set(entry, reason)
  }
  const allowed = selected.filter((entry) => !reasons.has(entry))
  for (const [entry, reason] of await findUnverified(run, source, allowed)) reasons.set(entry, reason)
  const fetched = allowed.filter((entry) => !reasons.has(entry))
  const contents = await fetchBlobs(run, source, fetched, cached)
  const groups = toGroups(entries, chosen).map((group) => ({
    entries: group,
    prepared: chosen.has(group[0]!) ? inspectEntries(application, group, contents, reasons) : undefined,
  }))
  return { entries, contents, groups }
}

function inspectEntries(
  { run, known }: Application,
  entries: readonly FeedEntry[],
  contents: Batch['contents'],
  reasons: ReadonlyMap<FeedEntry, string>,
): Promise<PreparedEntries> {
  const { upstream, parts, options } = run
  const prepared = prepareEntries(parts.context, {
    upstream: toMirrorSource(run, known),
    entries,
    contents,
    isReread: options.full ?? false,
    accepts: (entry) => reasons.get(entry),
    acceptsScan: (_, { score }) => explainScore(score, upstream.settings.filters),
  })
  // The promise is awaited later. Meanwhile its rejection must not count as unhandled, because that would end the
  // process.
  prepared.catch(() => undefined)
  return prepared
}

async function readStagedEntries({ parts, upstream }: Run, after: number, until: number): Promise<FeedEntry[]> {
  const query = selectUpstreamEntries(parts.context.database.read, upstream.name, { after, until })
  const rows = await query.select('entry').limit(batchMax).execute()
  if (rows.length === 0)
    throw new Error(
      `The stored log of ${upstream.name} is damaged: entry ${after + 1} is missing. Run \`skillstead doctor\`.`,
    )
  return rows.map(({ entry }) => parseEntry(entry))
}

/** The first entries whose content fits into one batch; at least one entry. */
function takeBatch(entries: readonly FeedEntry[], chosen: ReadonlySet<FeedEntry>): readonly FeedEntry[] {
  let bytes = 0
  const end = entries.findIndex((entry, i) => {
    bytes += chosen.has(entry) ? toDeclaredBytes(entry) : 0
    return i > 0 && bytes > batchBytesMax
  })
  return end === -1 ? entries : entries.slice(0, end)
}

async function applyGroup(application: Application, { entries, prepared }: Group): Promise<void> {
  const { run, source } = application
  requireActive(run)
  if (!prepared) return skipEntries(run, entries)
  const { write } = await prepared
  requireActive(run)
  const outcomes = await write((trx, entry, outcome) =>
    advancePosition(application, trx, entry, explainCopy(source, outcome)),
  )
  outcomes.forEach((outcome, i) => run.tally.add(entries[i]!.subject, explainCopy(source, outcome)))
}

/** The upstream of a run, as the source of its entries. */
export function toMirrorSource({ upstream }: Run, { origin, epoch }: Pick<Known, 'origin' | 'epoch'>): MirrorSource {
  return { name: upstream.name, origin: origin!, epoch: epoch! }
}

/** Entries that a run applies although they are before its stored position. */
export interface EarlierEntries {
  readonly entries: readonly FeedEntry[]
  readonly contents: ReadonlyMap<string, Uint8Array>
  /** The entries to refuse, with the reason for each. */
  readonly reasons: ReadonlyMap<FeedEntry, string>
}

/** Applies entries before the stored position, which does not change. */
export async function applyEarlier(
  run: Run,
  { known, refusals }: { readonly known: Pick<Known, 'origin' | 'epoch'>; readonly refusals: Refusals },
  { entries, contents, reasons }: EarlierEntries,
): Promise<MirrorOutcome[]> {
  const outcomes = await applyEntries(run.parts.context, {
    upstream: toMirrorSource(run, known),
    entries,
    contents,
    isReread: true,
    accepts: (entry) => reasons.get(entry),
    acceptsScan: (_, { score }) => explainScore(score, run.upstream.settings.filters),
    async also(trx, { subject }, outcome) {
      await updateOwn(trx, run, {})
      await refusals.record(trx, subject, outcome)
    },
  })
  outcomes.forEach((outcome, i) => run.tally.add(entries[i]!.subject, outcome))
  return outcomes
}

/** Explains why a version does not pass the filter on the score of this node's scan; undefined if it passes. */
function explainScore(score: number, { minSecurityScore = 0 }: Filters): string | undefined {
  if (score >= minSecurityScore) return undefined
  return `Its security score is ${score}. The filters require at least ${minSecurityScore}.`
}

/** Replaces the reason `missing` for a bundle: content that a bundle lacks was left out when the bundle was created. */
function explainCopy({ isCopy }: LogSource, outcome: MirrorOutcome): MirrorOutcome {
  if (!isCopy || outcome.result !== 'refused' || outcome.reason !== 'missing') return outcome
  const detail =
    'The content of the version is not in the bundle. To import it, create a bundle without filters and import it with --full.'
  return { ...outcome, reason: 'not_in_bundle', detail }
}

/**
 * Stores the position. Runs in the transaction that applies the entry, so that entry and position are stored together
 * or not at all.
 */
async function advancePosition(
  { run, refusals, guard }: Application,
  trx: WriteTransaction,
  entry: FeedEntry,
  outcome: MirrorOutcome,
): Promise<void> {
  guard.check(entry, outcome)
  await updateOwn(trx, run, { applied: entry.seq }, { applied: entry.seq - 1 })
  await refusals.record(trx, entry.subject, outcome)
}

async function skipEntries(run: Run, group: readonly FeedEntry[]): Promise<void> {
  const applied = group.at(-1)!.seq
  await run.parts.context.database.writer.write(
    (trx) => updateOwn(trx, run, { applied }, { applied: group[0]!.seq - 1 }),
    { bulk: true },
  )
}

/** Splits entries into groups of consecutive ones. All entries of a group are wanted, or none is. */
function toGroups(entries: readonly FeedEntry[], wanted: ReadonlySet<FeedEntry>): FeedEntry[][] {
  const groups: FeedEntry[][] = []
  for (const entry of entries) {
    const last = groups.at(-1)
    if (last && wanted.has(last[0]!) === wanted.has(entry)) last.push(entry)
    else groups.push([entry])
  }
  return groups
}
