import type { OperatorContext } from './operator-context.ts'
import { countUnscanned } from '../governance/rescan.ts'
import type { Database } from '../storage/database.ts'

/** A figure that an operator may want to watch. */
export interface Metric {
  readonly name: string
  readonly help: string
  readonly type: 'gauge' | 'counter'
  /** Metrics of one name may differ in these. */
  readonly labels?: Readonly<Record<string, string>>
  readonly value: number
}

/** What a node knows without the database, which it may be without. */
export async function readNodeMetrics({ database, search, changes, sharedLimits }: OperatorContext): Promise<Metric[]> {
  const isUp = await answersQueries(database)
  const metrics: Metric[] = [
    { name: 'skillstead_database_up', help: 'Whether the database answers', type: 'gauge', value: Number(isUp) },
    {
      name: 'skillstead_search_skills',
      help: 'Skills in the search index in memory',
      type: 'gauge',
      value: search.size,
    },
    { name: 'skillstead_changes_position', help: 'Last change followed', type: 'gauge', value: changes.position },
  ]
  if (changes.isNoticed !== undefined) {
    const help = 'Whether notices of changes of other nodes come; they are looked for each second anyway'
    metrics.push({ name: 'skillstead_changes_noticed', help, type: 'gauge', value: Number(changes.isNoticed) })
  }
  if (sharedLimits) {
    const { asked, unanswered } = sharedLimits.counts
    metrics.push(
      {
        name: 'skillstead_rate_leases_total',
        help: 'Statements that asked the database for a part of a rate limit',
        type: 'counter',
        value: asked,
      },
      {
        name: 'skillstead_rate_unshared_total',
        help: 'Requests that this node counted alone, since the database did not answer',
        type: 'counter',
        value: unanswered,
      },
    )
  }
  return metrics
}

/** What is counted in the database. */
export async function readStoredMetrics({ database, outbox, clock }: OperatorContext): Promise<Metric[]> {
  const { pending, failed, oldestDueAt, attempts, failures } = await outbox.figures()
  const { skills } = await database.read
    .selectFrom('skills')
    .select((eb) => eb.fn.countAll<number>().as('skills'))
    .executeTakeFirstOrThrow()
  const { versions } = await database.read
    .selectFrom('versions')
    .select((eb) => eb.fn.countAll<number>().as('versions'))
    .executeTakeFirstOrThrow()
  const unscanned = await countUnscanned({ database })
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
    { name: 'skillstead_outbox_pending', help: 'Outbox rows that wait', type: 'gauge', value: pending },
    { name: 'skillstead_outbox_failed', help: 'Outbox rows that failed', type: 'gauge', value: failed },
    {
      name: 'skillstead_outbox_oldest_seconds',
      help: 'How long the oldest due row waits',
      type: 'gauge',
      value: oldestMs / 1000,
    },
    { name: 'skillstead_outbox_attempts_total', help: 'Attempts that ended', type: 'counter', value: attempts },
    { name: 'skillstead_outbox_failures_total', help: 'Attempts that failed', type: 'counter', value: failures },
  ]
}

/** A database that is away takes its own figures with it, and not those that tell of it. */
export function readOrNothing(read: () => Promise<Metric[]>): Promise<Metric[]> {
  return read().catch(() => [])
}

/** Whether the database is there. */
export async function answersQueries(database: Database): Promise<boolean> {
  try {
    await database.read.selectFrom('heads').select('id').execute()
    return true
  } catch {
    return false
  }
}
