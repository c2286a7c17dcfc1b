import { toFields } from '@skillstead/protocol'
import { applyReleases } from '../applying/apply-releases.ts'
import type { MirrorRelease, MirrorOutcome } from '../applying/mirrored-types.ts'
import { addReasons, requireActive, updateOwn, type Run } from '../run.ts'
import { createRefusals, type Refusals } from '../store/refusals.ts'
import type { Refusal, Release, SnapshotSource, UpstreamStatus } from '../types.ts'
import { createKnownReleases } from './known-releases.ts'
import { explainScan, keepWanted } from './wanted-releases.ts'

/**
 * The cursors of an upstream's sources: one for public skills, and for each account, by username, one for its private
 * skills.
 */
export interface Place {
  public: unknown
  private: Record<string, unknown>
  /** Set while some public skills of the upstream are still unread. */
  estimate?: UpstreamStatus['estimate']
}

/** The cursor that is advanced while a source is read. */
export interface Draining {
  readonly place: Place
  readonly part: 'public' | { readonly username: string }
}

export function readSnapshotPlace(stored: unknown): Place {
  const { public: shown = null, private: own } = toFields(stored)
  return { public: shown, private: toFields(own) }
}

/** Imports all releases that a source yields, and stores its cursor with them. */
export async function drainSource(run: Run, source: SnapshotSource, { place, part }: Draining): Promise<void> {
  const { context } = run.parts
  const stored = part === 'public' ? place.public : place.private[part.username]
  const known = createKnownReleases(context, run.upstream.name, run.options.full)
  const refusals = await createRefusals(run.parts.context, run.upstream)
  let done = run.tally.head
  for await (const batch of source.list(stored ?? null, known)) {
    const { releases, cursor, refused = [], unchanged = 0, estimate } = batch
    requireActive(run)
    await storeReleases(run, refusals, releases)
    if (part === 'public') {
      place.public = cursor
      place.estimate = estimate && estimate.left > 0 ? { ...estimate, at: context.clock.now() } : null
    } else place.private[part.username] = cursor
    await recordRefusals(run, refused, { cursor: JSON.stringify(place) }, refusals)
    addReasons(run.tally.omitted, batch.omitted ?? [])
    addReasons(run.tally.changed, batch.changed ?? [])
    run.tally.unchanged += unchanged
    done += releases.length + unchanged + refused.length
    run.tally.head = done
    const total = estimate && { total: done + estimate.left, secondsLeft: estimate.secondsLeft }
    run.progress({ phase: 'listing', done, ...total })
  }
}

/** Imports the releases that pass the filters. Each transaction also checks that the run still has its lease. */
export async function storeReleases(run: Run, refusals: Refusals, offered: readonly Release[]): Promise<void> {
  const releases = keepWanted(run, offered)
  if (releases.length === 0) return
  const { context } = run.parts
  const outcomes = await applyReleases(context, {
    upstream: run.upstream.name,
    releases,
    acceptsScan: (_, scan) => explainScan(run, scan),
    async also(trx, release, outcome) {
      await updateOwn(trx, run, {})
      await refusals.record(trx, toReleaseSubject(release), outcome)
    },
  })
  for (const [i, outcome] of outcomes.entries()) run.tally.add(toReleaseSubject(releases[i]!), outcome)
  for (const { files } of releases) run.tally.bytes += files.reduce((sum, { bytes }) => sum + bytes.length, 0)
}

/**
 * Records refusals in the report and the database, and updates columns of the upstream's row in the same transaction.
 */
export async function recordRefusals(
  run: Run,
  refused: readonly Refusal[],
  changes: { cursor?: string } = {},
  refusals?: Refusals,
): Promise<void> {
  const kept = refusals ?? (await createRefusals(run.parts.context, run.upstream))
  const { database } = run.parts.context
  const outcomes = refused.map(({ subject, reason, detail }) => {
    return { subject, outcome: { result: 'refused', reason, detail } as MirrorOutcome }
  })
  await database.writer.write(async (trx) => {
    await updateOwn(trx, run, changes)
    for (const { subject, outcome } of outcomes) await kept.record(trx, subject, outcome)
  })
  for (const { subject, outcome } of outcomes) run.tally.add(subject, outcome)
}

function toReleaseSubject({ owner, name, version }: Pick<MirrorRelease, 'owner' | 'name' | 'version'>): string {
  return version === undefined ? `${owner}/${name}` : `${owner}/${name}@${version}`
}
