import { prepareEntries, type PreparedEntries } from '../applying/apply-entries.ts'
import type { EntryOutcome } from '../applying/mirrored-types.ts'
import type { WriteTransaction } from '@skillstead/core/internal'
import { parseForeignJson } from '@skillstead/protocol'
import { requireGoing, updateOwn, type Run } from '../run.ts'
import { createRefusals, type Refusals } from '../store/refusals.ts'
import type { FeedEntry, Filters, LogSource } from '../types.ts'
import { ahead } from './ahead.ts'
import { fetchBlobs, toDeclaredBytes } from './fetch-blobs.ts'
import { findUnverified } from './find-unverified.ts'
import type { Known } from './judge-page.ts'
import { guardSight, readSuperseded, type HidingGuard } from './removals.ts'
import { createWanted, type Wanted } from './wanted-entries.ts'
import { withUpstreams } from '../tables/mirror-tables.ts'

/** Entries of one portion, and bytes of their content as they say. */
const portionMax = 100
const portionBytesMax = 4 * 1024 * 1024
/** So many portions are fetched and looked at while one is written: that many and one are in memory. */
const portionsAhead = 2

/** Some entries in their order, with what is needed to apply them. */
interface Portion {
  readonly entries: readonly FeedEntry[]
  readonly contents: ReadonlyMap<string, Uint8Array>
  /** Neighbours that are all looked at, or all not. */
  readonly groups: readonly Group[]
}

interface Group {
  readonly entries: readonly FeedEntry[]
  /** Undefined of those that are not looked at. */
  readonly prepared: Promise<PreparedEntries> | undefined
}

/** What {@link applyLog} goes by. */
interface Application {
  readonly run: Run
  readonly source: LogSource
  readonly known: Known
  readonly wanted: Wanted
  readonly refusals: Refusals
  readonly guard: HidingGuard
}

/**
 * Brings the verified entries of an upstream's log into the catalogue, each in a transaction that also advances the
 * position: whenever the process ends, it ends between two entries, and the next run goes on there. While some are
 * written the next are fetched and looked at.
 */
export async function applyLog(run: Run, source: LogSource, known: Known, applied: number): Promise<void> {
  if (applied >= known.verified) return
  const guard = await guardSight(run, applied, known.verified)
  const application: Application = {
    run,
    source,
    known,
    wanted: await createWanted(run, await readSuperseded(run, applied, known.verified)),
    refusals: await createRefusals(run.parts.context, run.upstream),
    guard,
  }
  for await (const { entries, groups } of ahead(readPortions(application, applied), portionsAhead)) {
    for (const group of groups) await applyGroup(application, group)
    run.progress({ phase: 'applying', done: entries.at(-1)!.seq, total: known.verified })
  }
}

async function* readPortions(application: Application, applied: number): AsyncGenerator<Portion> {
  const { run, known } = application
  let recent: readonly Portion[] = []
  for (let last = applied; last < known.verified;) {
    requireGoing(run)
    const portion = await prepare(application, last, new Map(recent.flatMap(({ contents }) => [...contents])))
    recent = [...recent, portion].slice(-portionsAhead)
    last = portion.entries.at(-1)!.seq
    yield portion
  }
}

/**
 * Reads what comes after a position, fetches what it needs and has it looked at; `held` was fetched for what is not
 * written yet.
 */
async function prepare(
  application: Application,
  after: number,
  held: ReadonlyMap<string, Uint8Array>,
): Promise<Portion> {
  const { run, source, known, wanted } = application
  const all = await readEntries(run, after, known.verified)
  const chosen = new Set(all.filter((entry) => wanted.wants(entry)))
  const entries = takePortion(all, chosen)
  const looked = entries.filter((entry) => chosen.has(entry))
  const reasons = new Map<FeedEntry, string>()
  for (const entry of looked) {
    const reason = wanted.refuse(entry)
    if (reason !== undefined) reasons.set(entry, reason)
  }
  const allowed = looked.filter((entry) => !reasons.has(entry))
  for (const [entry, reason] of await findUnverified(run, source, allowed)) reasons.set(entry, reason)
  const fetched = allowed.filter((entry) => !reasons.has(entry))
  const contents = await fetchBlobs(run, source, fetched, held)
  const groups = toGroups(entries, chosen).map((group) => ({
    entries: group,
    prepared: chosen.has(group[0]!) ? lookAt(application, group, contents, reasons) : undefined,
  }))
  return { entries, contents, groups }
}

function lookAt(
  { run, known }: Application,
  entries: readonly FeedEntry[],
  contents: Portion['contents'],
  reasons: ReadonlyMap<FeedEntry, string>,
): Promise<PreparedEntries> {
  const { upstream, parts, options } = run
  const prepared = prepareEntries(parts.context, {
    upstream: { name: upstream.name, origin: known.origin!, epoch: known.epoch! },
    entries,
    contents,
    isReread: options.full ?? false,
    accepts: (entry) => reasons.get(entry as FeedEntry),
    acceptsScan: (_, { score }) => explainScore(score, upstream.settings.filters),
  })
  // It is waited for later, and must not end the process before.
  prepared.catch(() => undefined)
  return prepared
}

async function readEntries({ parts, upstream }: Run, after: number, until: number): Promise<FeedEntry[]> {
  const rows = await withUpstreams(parts.context.database.read)
    .selectFrom('upstream_log')
    .select('entry')
    .where('upstream', '=', upstream.name)
    .where('seq', '>', after)
    .where('seq', '<=', until)
    .orderBy('seq')
    .limit(portionMax)
    .execute()
  if (rows.length === 0) throw new Error(`The log of ${upstream.name} lacks the entry ${after + 1}.`)
  return rows.map(({ entry }) => parseForeignJson(entry) as FeedEntry)
}

/** As many of the entries as go together, one at least. */
function takePortion(entries: readonly FeedEntry[], chosen: ReadonlySet<FeedEntry>): readonly FeedEntry[] {
  let bytes = 0
  const end = entries.findIndex((entry, i) => {
    bytes += chosen.has(entry) ? toDeclaredBytes(entry) : 0
    return i > 0 && bytes > portionBytesMax
  })
  return end === -1 ? entries : entries.slice(0, end)
}

async function applyGroup(application: Application, { entries, prepared }: Group): Promise<void> {
  const { run, source } = application
  requireGoing(run)
  if (!prepared) return skip(run, entries)
  const { write } = await prepared
  requireGoing(run)
  const outcomes = await write((trx, entry, outcome) =>
    advance(application, trx, entry as FeedEntry, explain(source, outcome)),
  )
  outcomes.forEach((outcome, i) => run.tally.add(entries[i]!.subject, explain(source, outcome)))
}

/** Why a version does not pass by this node's own scan; undefined where it does. */
export function explainScore(score: number, { minSecurityScore = 0 }: Filters): string | undefined {
  if (score >= minSecurityScore) return undefined
  return `Its security score is ${score}, and ${minSecurityScore} is the least that is wanted.`
}

/** What a copy lacks was left out of it. */
function explain({ isCopy }: LogSource, outcome: EntryOutcome): EntryOutcome {
  if (!isCopy || outcome.result !== 'refused' || outcome.reason !== 'missing') return outcome
  const detail = 'Its content is not in the bundle: one that was made without filters brings it in with --full.'
  return { ...outcome, reason: 'not_in_bundle', detail }
}

/** In the transaction that applies the entry: both are done, or neither is. */
async function advance(
  { run, refusals, guard }: Application,
  trx: WriteTransaction,
  entry: FeedEntry,
  outcome: EntryOutcome,
): Promise<void> {
  guard.check(entry, outcome)
  await updateOwn(trx, run, { applied: entry.seq }, { applied: entry.seq - 1 })
  await refusals.record(trx, entry.subject, outcome)
}

async function skip(run: Run, group: readonly FeedEntry[]): Promise<void> {
  const applied = group.at(-1)!.seq
  await run.parts.context.database.writer.write(
    (trx) => updateOwn(trx, run, { applied }, { applied: group[0]!.seq - 1 }),
    { bulk: true },
  )
}

/** Neighbours that are all wanted, or all not. */
function toGroups(entries: readonly FeedEntry[], wanted: ReadonlySet<FeedEntry>): FeedEntry[][] {
  const groups: FeedEntry[][] = []
  for (const entry of entries) {
    const last = groups.at(-1)
    if (last && wanted.has(last[0]!) === wanted.has(entry)) last.push(entry)
    else groups.push([entry])
  }
  return groups
}
