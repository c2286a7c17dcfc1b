import {
  type Overview,
  guestRequestsPerMinute,
  planNames,
  plans,
  type RateLimits,
  toTimestamp,
} from '@skillstead/protocol'
import type { AccountsContext } from '../accounts/accounts-context.ts'
import type { StorageContext } from '../storage/storage-context.ts'
import type { CatalogueContext } from '../catalogue/context/catalogue-context.ts'
import { countUnscanned } from '../governance/rescan.ts'
import { selectInState } from '../outbox/rows.ts'
import { countRows } from '../storage/count-rows.ts'
import { countLogDays } from './log-days.ts'
import type { OperatorContext } from './operator-context.ts'

/** GET /operator/overview. */
export async function showOverview(context: OperatorContext): Promise<Overview> {
  const { node, upstreams, origin, database, search } = context
  return {
    version: node.port?.version ?? null,
    startedAt: toTimestamp(context.startedAt),
    origin,
    database: database.dialect,
    network: upstreams.operator?.mode ?? null,
    counts: await readOverviewCounts(context),
    outbox: await readOverviewOutbox(context),
    search: { documents: search.size, ready: search.ready },
    log: await readOverviewLog(context),
    scans: { pending: await countUnscanned(context) },
    alarms: await readOverviewAlarms(context),
  }
}

async function readOverviewCounts({ database: { read } }: StorageContext): Promise<Overview['counts']> {
  return {
    skills: await countRows(read.selectFrom('skills')),
    versions: await countRows(read.selectFrom('versions')),
    users: await countRows(read.selectFrom('users').where('claimed', '=', 1)),
    packs: await countRows(read.selectFrom('packs')),
  }
}

async function readOverviewOutbox({ outbox, database, clock }: AccountsContext): Promise<Overview['outbox']> {
  const { pending, failed, oldestDueAt } = await outbox.figures()
  const due = await countRows(selectInState(database.read, 'pending').where('due_at', '<=', clock.now()))
  return { pending, due, failed, oldestAt: oldestDueAt === null ? null : toTimestamp(oldestDueAt) }
}

async function readOverviewLog(context: StorageContext): Promise<Overview['log']> {
  const last = await context.database.read
    .selectFrom('log')
    .select(['seq', 'at'])
    .orderBy('seq', 'desc')
    .limit(1)
    .execute()
  const size = last[0]?.seq ?? 0
  return { size, lastEntryAt: last[0] ? toTimestamp(last[0].at) : null, days: await countLogDays(context, size) }
}

async function readOverviewAlarms({ upstreams }: CatalogueContext): Promise<Overview['alarms']> {
  const followed = (await upstreams.operator?.list()) ?? []
  return followed.flatMap(({ name, alarm }) => {
    if (!alarm) return []
    const { code, message, at } = alarm
    return [{ upstream: name, code, message, at }]
  })
}

/** GET /operator/rate-limits: the limits of the node, or the defaults if no node serves the registry. */
export async function showRateLimits({ node: { port } }: OperatorContext): Promise<RateLimits> {
  if (port) return { ...port.rates, limitedTotal: await port.limited() }
  const byPlan = planNames.map((plan) => ({ plan, requestsPerMinute: plans[plan].requestsPerMinute }))
  return { on: false, anonymous: guestRequestsPerMinute, plans: byPlan, limitedTotal: null }
}
