import type { CatalogueContext } from '../catalogue/context/catalogue-context.ts'
import type { Metric } from './metric.ts'
import type { OperatorContext } from './operator-context.ts'
import { answersQueries } from './readiness.ts'
import { countUnscanned } from '../governance/rescan.ts'
import { countRows } from '../storage/count-rows.ts'

/** Metrics that need no database, so that they work while it is unavailable. */
export async function readNodeMetrics({
  database,
  search,
  changes,
  sharedLimits,
  replica,
}: OperatorContext): Promise<Metric[]> {
  const isUp = await answersQueries(database)
  const metrics: Metric[] = [
    { name: 'skillstead_database_up', help: 'Whether the database responds', type: 'gauge', value: Number(isUp) },
    {
      name: 'skillstead_search_skills',
      help: 'Skills in the search index in memory',
      type: 'gauge',
      value: search.size,
    },
    {
      name: 'skillstead_search_refused_total',
      help: 'Searches that were refused because too many waited for the thread of the index',
      type: 'counter',
      value: search.refused,
    },
    { name: 'skillstead_changes_position', help: 'Last processed change', type: 'gauge', value: changes.position },
  ]
  if (changes.isNoticed !== undefined) {
    const help = 'Whether notifications of changes on other nodes arrive; without them, changes are polled every second'
    metrics.push({ name: 'skillstead_changes_noticed', help, type: 'gauge', value: Number(changes.isNoticed) })
  }
  if (replica) {
    const { used, refused } = replica.counts
    const late = 'Lists and searches that read the primary, because the replica was late or failed'
    metrics.push(
      {
        name: 'skillstead_replica_reads_total',
        help: 'Lists and searches that read the replica',
        type: 'counter',
        value: used,
      },
      { name: 'skillstead_replica_refused_total', help: late, type: 'counter', value: refused },
    )
  }
  if (sharedLimits) {
    const { asked, unanswered } = sharedLimits.counts
    metrics.push(
      {
        name: 'skillstead_rate_leases_total',
        help: 'Statements that leased a share of a rate limit from the database',
        type: 'counter',
        value: asked,
      },
      {
        name: 'skillstead_rate_unshared_total',
        help: 'Requests that this node counted alone because the database did not respond',
        type: 'counter',
        value: unanswered,
      },
    )
  }
  return metrics
}

/** Metrics from the database. */
export async function readStoredMetrics(context: CatalogueContext): Promise<Metric[]> {
  const { database, outbox, clock } = context
  const { pending, failed, oldestDueAt, attempts, failures } = await outbox.figures()
  const skills = await countRows(database.read.selectFrom('skills'))
  const versions = await countRows(database.read.selectFrom('versions'))
  const unscanned = await countUnscanned(context)
  const oldestMs = oldestDueAt === null ? 0 : Math.max(0, clock.now() - oldestDueAt)
  return [
    { name: 'skillstead_skills', help: 'Skills stored', type: 'gauge', value: skills },
    {
      name: 'skillstead_scans_waiting',
      help: 'Versions without a scan by the current rules',
      type: 'gauge',
      value: unscanned,
    },
    { name: 'skillstead_versions', help: 'Versions stored', type: 'gauge', value: versions },
    { name: 'skillstead_outbox_pending', help: 'Pending outbox rows', type: 'gauge', value: pending },
    { name: 'skillstead_outbox_failed', help: 'Failed outbox rows', type: 'gauge', value: failed },
    {
      name: 'skillstead_outbox_oldest_seconds',
      help: 'Waiting time of the oldest due row',
      type: 'gauge',
      value: oldestMs / 1000,
    },
    { name: 'skillstead_outbox_attempts_total', help: 'Completed attempts', type: 'counter', value: attempts },
    { name: 'skillstead_outbox_failures_total', help: 'Failed attempts', type: 'counter', value: failures },
  ]
}

/** If the database is unavailable, its own metrics are missing, but not the metrics that report the problem. */
export function readOrNothing(read: () => Promise<Metric[]>): Promise<Metric[]> {
  return read().catch(() => [])
}

/** The questions for a second opinion by their results. */
export function toOpinionMetrics(counts: Readonly<Record<string, number>>): Metric[] {
  return Object.entries(counts).map(([result, value]) => ({
    name: 'skillstead_second_opinions_total',
    help: 'Questions for a second opinion, by their result',
    type: 'counter',
    labels: { result },
    value,
  }))
}
