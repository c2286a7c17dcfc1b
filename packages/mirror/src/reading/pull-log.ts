import { parseEntry } from '../applying/entry-data.ts'
import type { MirrorOutcome } from '../applying/mirrored-types.ts'
import { applyEarlier } from '../log/apply-log.ts'
import { fetchBlobs, toDeclaredBytes } from '../log/fetch-blobs.ts'
import { findUnverified } from '../log/find-unverified.ts'
import { syncLog } from '../log/sync-log.ts'
import { createWanted } from '../log/wanted-entries.ts'
import { requireActive, type Run } from '../run.ts'
import { createRefusals, type Refusals } from '../store/refusals.ts'
import { getUpstream } from '../store/upstreams.ts'
import type { FeedEntry, LogSource, Upstream } from '../types.ts'
import type { Lacking } from './read-runs.ts'
import { withUpstreams } from '../tables/mirror-tables.ts'

/** Maximum number of entries of one skill in a batch, and maximum bytes of their content as the entries declare it. */
const portionMax = 50
const portionBytesMax = 8 * 1024 * 1024

/**
 * Imports single skills of an upstream that has a log: first verifies the new part of the log as every sync does, then
 * applies all entries about the named skills, and requests only their content. Returns the skills whose content the
 * upstream does not return.
 */
export async function pullFromLog(run: Run, source: LogSource, { names, isNew }: PulledNames): Promise<Lacking> {
  if (!isNew) await syncLog(run, source)
  const { read } = run.parts.context.database
  const upstream = await getUpstream(read, run.upstream.name)
  const refusals = await createRefusals(run.parts.context, run.upstream)
  const lacking = new Map<string, string>()
  for (const fullName of names) {
    if ((await pullOne(run, source, { upstream, refusals, fullName })) === 'lacking')
      lacking.set(fullName, 'The upstream does not return the files that its log lists.')
  }
  return lacking
}

interface PulledNames {
  readonly names: ReadonlySet<string>
  /** Whether the log was synced a moment ago, so that it needs no sync. */
  readonly isNew: boolean
}

interface Pull {
  /** The upstream's row after the sync. */
  readonly upstream: Upstream
  readonly refusals: Refusals
  readonly fullName: string
}

/** Imports one skill. Returns `lacking` if the log has the skill, but the upstream does not return its content. */
async function pullOne(run: Run, source: LogSource, pull: Pull): Promise<'done' | 'lacking'> {
  const goneAt = await readRemovedAt(run, pull)
  const wanted = await createWanted(run, new Map([[pull.fullName, goneAt]]), new Set([pull.fullName]))
  let isThere = false
  const outcomes: MirrorOutcome[] = []
  for (let after = 0; ;) {
    requireActive(run)
    const entries = takePortion(await readPulledEntries(run, pull, after))
    if (entries.length === 0) break
    after = entries.at(-1)!.seq
    const chosen = entries.filter((entry) => wanted.wants(entry))
    // Log entries of a skill before its first version have no effect.
    isThere ||= chosen.some(({ type }) => type === 'version')
    if (isThere) outcomes.push(...(await applyPortion(run, source, pull, chosen, (entry) => wanted.refuse(entry))))
  }
  const isLacking = outcomes.some((outcome) => outcome.result === 'refused' && outcome.reason === 'missing')
  return isLacking && !outcomes.some(({ result }) => result === 'applied') ? 'lacking' : 'done'
}

async function applyPortion(
  run: Run,
  source: LogSource,
  { upstream, refusals }: Pull,
  entries: readonly FeedEntry[],
  refuse: (entry: FeedEntry) => string | undefined,
): Promise<MirrorOutcome[]> {
  const reasons = await findUnverified(run, source, entries)
  for (const entry of entries) {
    const reason = refuse(entry)
    if (reason !== undefined) reasons.set(entry, reason)
  }
  const fetched = entries.filter((entry) => !reasons.has(entry))
  const contents = await fetchBlobs(run, source, fetched, new Map())
  const known = { origin: upstream.logOrigin, epoch: upstream.logEpoch }
  return applyEarlier(run, { known, refusals }, { entries, contents, reasons })
}

/** The first entries whose content fits into one batch; at least one entry. */
function takePortion(entries: readonly FeedEntry[]): readonly FeedEntry[] {
  let bytes = 0
  const end = entries.findIndex((entry, i) => (bytes += toDeclaredBytes(entry)) > portionBytesMax && i > 0)
  return end === -1 ? entries : entries.slice(0, end)
}

/** Selects the verified entries of a skill by its subject: `owner/name` or `owner/name@version`. */
function selectPulledEntries({ parts }: Run, { upstream, fullName }: Pull) {
  return withUpstreams(parts.context.database.read)
    .selectFrom('upstream_log')
    .where('upstream', '=', upstream.name)
    .where('seq', '<=', upstream.applied)
    .where((eb) =>
      // Matches subjects that begin with `full_name@`, because `A` is the next character after `@`.
      eb.or([
        eb('subject', '=', fullName),
        eb.and([eb('subject', '>=', `${fullName}@`), eb('subject', '<', `${fullName}A`)]),
      ]),
    )
}

async function readPulledEntries(run: Run, pull: Pull, after: number): Promise<FeedEntry[]> {
  const rows = await selectPulledEntries(run, pull)
    .select('entry')
    .where('seq', '>', after)
    .where('type', '!=', 'pack')
    .orderBy('seq')
    .limit(portionMax)
    .execute()
  return rows.map(({ entry }) => parseEntry(entry))
}

/** The number of the last entry that removed the skill; 0 if there is none. */
async function readRemovedAt(run: Run, pull: Pull): Promise<number> {
  const row = await selectPulledEntries(run, pull)
    .select('seq')
    .where('type', 'in', ['withdrawn', 'takedown'])
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.seq ?? 0
}
