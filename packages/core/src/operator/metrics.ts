import type { CatalogueContext } from '../catalogue/context/catalogue-context.ts'
import { type Metric, toMetric } from './metric.ts'
import type { OperatorContext } from './operator-context.ts'
import { answersQueries } from './readiness.ts'
import { countUnscanned } from '../governance/rescan.ts'
import { countRows } from '../storage/count-rows.ts'

/** Metrics that can be read while the database is unavailable. */
export async function readNodeMetrics({
  database,
  search,
  changes,
  sharedLimits,
  replica,
}: OperatorContext): Promise<Metric[]> {
  const isUp = await answersQueries(database)
  const metrics: Metric[] = [
    toMetric('skillstead_database_up', 'Whether the database responds', Number(isUp)),
    toMetric('skillstead_search_skills', 'Skills in the search index in memory', search.size),
    toMetric(
      'skillstead_search_refused_total',
      'Searches that were refused because too many waited for the thread of the index',
      search.refused,
    ),
    toMetric('skillstead_changes_position', 'Last processed change', changes.position),
  ]
  if (changes.isNoticed !== undefined) {
    const help = 'Whether notifications of changes on other nodes arrive; without them, changes are polled every second'
    metrics.push(toMetric('skillstead_changes_noticed', help, Number(changes.isNoticed)))
  }
  if (replica) {
    const { used, refused } = replica.counts
    const late = 'Lists and searches that read the primary, because the replica was late or failed'
    metrics.push(
      toMetric('skillstead_replica_reads_total', 'Lists and searches that read the replica', used),
      toMetric('skillstead_replica_refused_total', late, refused),
    )
  }
  if (sharedLimits) {
    const { asked, unanswered } = sharedLimits.counts
    metrics.push(
      toMetric(
        'skillstead_rate_leases_total',
        'Statements that leased a share of a rate limit from the database',
        asked,
      ),
      toMetric(
        'skillstead_rate_unshared_total',
        'Requests that this node counted alone because the database did not respond',
        unanswered,
      ),
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
    toMetric('skillstead_skills', 'Skills stored', skills),
    toMetric('skillstead_scans_waiting', 'Versions without a scan by the current rules', unscanned),
    toMetric('skillstead_versions', 'Versions stored', versions),
    toMetric('skillstead_outbox_pending', 'Pending outbox rows', pending),
    toMetric('skillstead_outbox_failed', 'Failed outbox rows', failed),
    toMetric('skillstead_outbox_oldest_seconds', 'Waiting time of the oldest due row', oldestMs / 1000),
    toMetric('skillstead_outbox_attempts_total', 'Completed attempts', attempts),
    toMetric('skillstead_outbox_failures_total', 'Failed attempts', failures),
  ]
}

/** Reads metrics; returns none if reading fails, so that metrics from other sources are returned without a database. */
export function readOrNothing(read: () => Promise<Metric[]>): Promise<Metric[]> {
  return read().catch(() => [])
}

/** The metrics that count the questions for a second opinion by result. */
export function toOpinionMetrics(counts: Readonly<Record<string, number>>): Metric[] {
  return Object.entries(counts).map(([result, value]) => ({
    name: 'skillstead_second_opinions_total',
    help: 'Questions for a second opinion, by their result',
    type: 'counter',
    labels: { result },
    value,
  }))
}
