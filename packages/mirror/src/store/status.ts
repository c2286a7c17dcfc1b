import type { StorageContext } from '@skillstead/core/internal'
import type { Metric } from '@skillstead/core'
import { toNextAt } from '../schedule.ts'
import { hidePassword } from '../hide-password.ts'
import { shownColumns, type Upstream, type UpstreamStatus } from '../types.ts'
import { countRefusals } from './refusals.ts'
import { withUpstreams } from '../tables/mirror-tables.ts'

/** Counts of skills, refusals and writes, each by the name of the upstream. */
interface Counts {
  readonly skills: ReadonlyMap<string, number>
  readonly refused: ReadonlyMap<string, number>
  readonly waiting: ReadonlyMap<string, number>
  readonly inConflict: ReadonlyMap<string, number>
}

/** Reads the states of upstreams. `isRunning`: whether this process is syncing the upstream. */
export async function readStatus(
  context: StorageContext,
  upstreams: readonly Upstream[],
  isRunning: (name: string) => boolean,
): Promise<UpstreamStatus[]> {
  const counts = await readUpstreamCounts(context)
  const now = context.clock.now()
  return upstreams.map((upstream) => toStatus(upstream, counts, now, isRunning(upstream.name)))
}

/** The metrics of upstreams for monitoring. */
export function toUpstreamMetrics(statuses: readonly UpstreamStatus[], now: number): Metric[] {
  return statuses.flatMap(({ name, alarm, verified, applied, syncedAt, refused, writesWaiting }): Metric[] => {
    const gauge = (suffix: string, help: string, value: number, labels = {}): Metric => {
      return { name: `skillstead_mirror_${suffix}`, help, type: 'gauge', value, labels: { upstream: name, ...labels } }
    }
    return [
      gauge('alarm', '1 while the sync of an upstream is paused', alarm ? 1 : 0, {
        code: alarm?.code ?? 'none',
      }),
      gauge('waiting_entries', 'Verified entries of an upstream that are not applied yet', verified - applied),
      gauge('refusals', 'Entries and releases of an upstream that were not imported', refused),
      gauge('writes_waiting', 'Writes that are pending for an upstream', writesWaiting),
      ...(syncedAt === null
        ? []
        : [
            gauge(
              'synced_age_seconds',
              'Seconds since the last successful sync of an upstream',
              Math.max(0, now - syncedAt) / 1000,
            ),
          ]),
    ]
  })
}

function toStatus(upstream: Upstream, counts: Counts, now: number, isRunning: boolean): UpstreamStatus {
  const { name, kind, location, credential, checkpoint, checkpointAt, settings, cursor, report, error } = upstream
  const columns = Object.fromEntries(shownColumns.map((column) => [column, upstream[column]]))
  // Only upstreams without a log have an estimate; with a log, the number of remaining entries is known.
  return {
    ...(columns as Pick<Upstream, (typeof shownColumns)[number]>),
    location: kind === 'git' ? hidePassword(location) : location,
    hasApiKey: credential !== null,
    state: toUpstreamState(upstream, now, isRunning),
    freezeChecked: checkpoint !== null && checkpointAt !== null && settings.maxAgeSeconds > 0,
    skills: counts.skills.get(name) ?? 0,
    refused: counts.refused.get(name) ?? 0,
    writesWaiting: counts.waiting.get(name) ?? 0,
    writesInConflict: counts.inConflict.get(name) ?? 0,
    nextAt: toNextAt(upstream, now),
    estimate: (cursor as { estimate?: UpstreamStatus['estimate'] } | null)?.estimate ?? null,
    lastReport: report,
    lastError: error,
  }
}

function toUpstreamState(upstream: Upstream, now: number, isRunning: boolean): UpstreamStatus['state'] {
  const { alarm, lease, leaseUntil, syncedAt, error, verified, applied } = upstream
  if (alarm) return 'stopped'
  if (isRunning || (lease !== null && leaseUntil > now)) return 'syncing'
  if (syncedAt === null) return 'new'
  return error || applied < verified ? 'behind' : 'current'
}

async function readUpstreamCounts({ database: { read } }: StorageContext): Promise<Counts> {
  const skills = await read
    .selectFrom('skills')
    .select((eb) => ['origin_upstream as upstream', eb.fn.countAll<number>().as('count')])
    .where('origin_kind', '=', 'mirror')
    .groupBy('origin_upstream')
    .execute()
  const writes = await withUpstreams(read)
    .selectFrom('upstream_writes')
    .select((eb) => ['upstream', 'state', eb.fn.countAll<number>().as('count')])
    .where('state', 'in', ['pending', 'conflict'])
    .groupBy(['upstream', 'state'])
    .execute()
  const ofState = (wanted: string) => toCounts(writes.filter(({ state }) => state === wanted))
  return {
    skills: toCounts(skills),
    refused: await countRefusals(read),
    waiting: ofState('pending'),
    inConflict: ofState('conflict'),
  }
}

function toCounts(rows: readonly { upstream: string | null; count: number }[]): Map<string, number> {
  return new Map(rows.map(({ upstream, count }) => [upstream ?? '', Number(count)]))
}
