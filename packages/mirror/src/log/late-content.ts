import { parseEntry } from '../applying/entry-data.ts'
import { completePacks } from '../applying/complete-packs.ts'
import { isPrivateName, requireActive, updateOwn, type Run } from '../run.ts'
import { createRefusals, type Refusals } from '../store/refusals.ts'
import type { LogSource } from '../types.ts'
import { applyEarlier, toMirrorSource } from './apply-log.ts'
import { fetchBlobs, restoreLostBlobs } from './fetch-blobs.ts'
import { findUnverified } from './find-unverified.ts'
import type { Known } from './judge-page.ts'
import { createWanted, toEntrySkill, type Wanted } from './wanted-entries.ts'
import { withUpstreams } from '../tables/mirror-tables.ts'

/** Maximum number of versions whose content is requested again in one run. */
const retriedMax = 20
/** Minimum minutes between two attempts to get a version's content, by the attempts so far. The last value repeats. */
const pausesMinutes = [0, 5, 30, 120, 720, 1440]
/** Maximum number of later entries about a version that are applied at once. */
const followersPerPage = 100

/**
 * Imports late content: blobs that the bucket lost, the versions `due`, whose content the upstream did not return or
 * this node failed to store before, and skills of packs that were not stored when the pack was imported. `applied`: the
 * position that the run reached.
 */
export async function applyLateContent(
  run: Run,
  source: LogSource,
  { known, applied, due }: { known: Known; applied: number; due: readonly string[] },
): Promise<void> {
  if (known.origin === null || known.epoch === null) return
  const late: Late = { run, source, applied, refusals: await createRefusals(run.parts.context, run.upstream), known }
  await restoreLostBlobs(run, source)
  await retryMissing(late, due)
  if (await hasNews(run)) await fillPacks(late)
}

interface Late {
  readonly run: Run
  readonly source: LogSource
  readonly known: Known
  readonly applied: number
  readonly refusals: Refusals
}

async function retryMissing(late: Late, due: readonly string[]): Promise<void> {
  if (due.length === 0) return
  const wanted = await createWanted(late.run, new Map())
  for (const subject of due) {
    requireActive(late.run)
    await retryVersion(late, wanted, subject)
  }
}

/** The versions that this run tries again to import, the oldest refusal first. */
export async function readDue({ parts, upstream, options }: Run): Promise<string[]> {
  // A full sync has no due versions, because it checks every entry.
  if (options.full) return []
  const { database, clock } = parts.context
  const now = clock.now()
  const rows = await withUpstreams(database.read)
    .selectFrom('upstream_refusals')
    .select('subject')
    .where('upstream', '=', upstream.name)
    .where('reason', 'in', ['missing', 'not_in_bundle', 'failed'])
    .where((eb) =>
      eb.or(
        pausesMinutes.map((minutes, tries) =>
          eb.and([
            eb('tries', tries === pausesMinutes.length - 1 ? '>=' : '=', tries),
            eb('at', '<=', now - minutes * 60_000),
          ]),
        ),
      ),
    )
    .orderBy('at')
    .limit(retriedMax)
    .execute()
  return rows.map(({ subject }) => subject)
}

/** Applies the entry of a version again, and then the later entries about the version, which were skipped with it. */
async function retryVersion(late: Late, wanted: Wanted, subject: string): Promise<void> {
  const { run, source, applied, refusals } = late
  const found = await readVersionEntry(run, subject, applied)
  if (!found || found.isGone || !wanted.wants(found.version)) {
    await run.parts.context.database.writer.write(async (trx) => {
      await updateOwn(trx, run, {})
      await refusals.forget(trx, subject)
    })
    return
  }
  const { version, seq } = found
  const reason = wanted.refuse(version) ?? (await findUnverified(run, source, [version])).get(version)
  const contents = await fetchBlobs(run, source, reason === undefined ? [version] : [], new Map())
  const reasons = new Map(reason === undefined ? [] : [[version, reason]])
  await applyEarlier(run, late, { entries: [version], contents, reasons })
  for (let after = seq; ;) {
    requireActive(run)
    const rows = await selectFollowers(run, subject, applied)
      .select(['seq', 'entry'])
      .where('seq', '>', after)
      .orderBy('seq')
      .limit(followersPerPage)
      .execute()
    await applyEarlier(run, late, { entries: rows.map(({ entry }) => parseEntry(entry)), contents, reasons })
    if (rows.length < followersPerPage) return
    after = rows.at(-1)!.seq
  }
}

/** The newest entry of a version, and whether a later entry removed its skill. */
async function readVersionEntry(run: Run, subject: string, applied: number) {
  const version = await selectEntries(run, applied)
    .select(['seq', 'entry'])
    .where('subject', '=', subject)
    .where('type', '=', 'version')
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (!version) return undefined
  const removal = await selectFollowers(run, subject, applied)
    .select('seq')
    .where('type', 'in', ['withdrawn', 'takedown'])
    .where('seq', '>', version.seq)
    .limit(1)
    .executeTakeFirst()
  const entry = parseEntry(version.entry)
  return { version: entry, seq: version.seq, isGone: removal !== undefined }
}

/** Selects the entries that change a version or its skill. */
function selectFollowers(run: Run, subject: string, applied: number) {
  return selectEntries(run, applied)
    .where('subject', 'in', [subject, toEntrySkill({ subject })])
    .where('type', 'in', ['yank', 'recall', 'skill', 'evaluation', 'withdrawn', 'takedown'])
}

function selectEntries({ parts, upstream }: Run, applied: number) {
  return withUpstreams(parts.context.database.read)
    .selectFrom('upstream_log')
    .where('upstream', '=', upstream.name)
    .where('seq', '<=', applied)
}

/** Whether any change was imported since the last successful run, whether by this run or another. */
async function hasNews({ parts, upstream, tally, options }: Run): Promise<boolean> {
  if (tally.applied > 0 || options.full || upstream.syncedAt === null) return true
  const row = await parts.context.database.read
    .selectFrom('skills')
    .select('id')
    .where('origin_upstream', '=', upstream.name)
    .where('origin_synced_at', '>=', upstream.syncedAt)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

async function fillPacks({ run, known, applied, refusals }: Late): Promise<void> {
  const { parts, tally } = run
  await completePacks(parts.context, {
    upstream: toMirrorSource(run, known),
    applied,
    accepts: (slug) => !isPrivateName(parts, slug),
    async also(trx, slug, outcome) {
      await updateOwn(trx, run, {})
      await refusals.record(trx, slug, outcome)
      tally.add(slug, outcome)
    },
  })
}
