import { toOneLine } from '@skillstead/protocol'
import {
  type BundleHeader,
  type SyncReport,
  toAcceptOptions,
  type UpstreamStatus,
  toSyncCommand,
} from '@skillstead/mirror'
import { toCount, toFactLines, toSize } from '../terminal/output.ts'
import { toReasonLines } from '../terminal/reason-lines.ts'

const refusalsShownMax = 20

/** An upstream with times in the form of the CLI's output. */
export interface ShownUpstream extends ReturnType<typeof toShownUpstream> {
  /** Linked users and refused entries; shown for a single upstream only. */
  readonly linked?: readonly { user: string; username: string | null }[]
  readonly refusals?: readonly { subject: string; reason: string; detail: string; at: string }[]
}

/** The state of an upstream with its times as text. */
export function toShownUpstream(status: UpstreamStatus) {
  const { checkpointAt, triedAt, syncedAt, nextAt, alarm, lastError, estimate } = status
  return {
    ...status,
    checkpointAt: toIsoTime(checkpointAt),
    triedAt: toIsoTime(triedAt),
    syncedAt: toIsoTime(syncedAt),
    nextAt: toIsoTime(nextAt),
    alarm: alarm && { ...alarm, at: toIsoTime(alarm.at) },
    estimate: estimate && { ...estimate, at: toIsoTime(estimate.at) },
    lastError: lastError && { ...lastError, at: toIsoTime(lastError.at) },
  }
}

/** An upstream as one line of a list. */
export function toListLine({ name, kind, location, state, skills }: ShownUpstream): string {
  return `${name}  ${kind}  ${toOneLine(location)}  ${state}, ${toCount(skills, 'skill')}`
}

/** The full state of an upstream. */
export function toStatusLines(upstream: ShownUpstream): string[] {
  const { name, kind, location, state, alarm, lastError, skills, refused } = upstream
  const facts = [
    ['state', `${state}${toWhen(upstream)}`],
    [
      'stopped',
      alarm &&
        `${alarm.code}, ${alarm.at}: ${alarm.message} Resume with: ${toSyncCommand(upstream)} ${toAcceptOptions(alarm)}`,
    ],
    ...(alarm?.keys ?? []).map((key) => ['offered', `${key} (compare it with the operator of ${name})`]),
    ['failed', !alarm && lastError && `${lastError.at}: ${lastError.message}`],
    ['skills', `${toCount(skills, 'skill')} here${refused > 0 ? `, ${toCount(refused)} refused` : ''}`],
    ['left', toEstimateText(upstream)],
    ['takes', toSelectionText(upstream)],
    ['log', toLog(upstream)],
    ...upstream.keys.map((key) => ['key', `${key} (${upstream.settings.pinned ? 'pinned' : 'trusted on first use'})`]),
    ['account', toAccount(upstream)],
    ...(upstream.linked ?? []).map(({ user, username }) => ['linked', `${user} as ${username ?? 'an unknown name'}`]),
    ['writes', toWrites(upstream)],
  ]
  return [
    `${name}  ${kind}  ${toOneLine(location)}`,
    ...facts.flatMap(([label, fact]) => (fact ? [`  ${String(label).padEnd(8)}${toOneLine(fact)}`] : [])),
    ...toRefusalLines(upstream.refusals ?? [], upstream.refusals ? refused : 0),
  ]
}

/** The result of a sync. */
export function toSyncLines(report: SyncReport): string[] {
  const { upstream, applied, unchanged, refused, refusedTotal, removed, requests, bytes, durationMs, head } = report
  const parts = [
    `${toCount(applied, 'change')} imported`,
    ...(removed > 0 ? [`${toCount(removed)} of them removals`] : []),
    ...(unchanged > 0 ? [`${toCount(unchanged)} unchanged`] : []),
    ...(refusedTotal > 0 ? [`${toCount(refusedTotal)} refused`] : []),
  ]
  return [
    `${upstream}: ${parts.join(', ')}. Now at ${head}.`,
    ...toRefusalLines(refused, refusedTotal),
    ...toReasonLines(report),
    `${toCount(requests, 'request')}, ${toSize(bytes)} of content, ${(durationMs / 1000).toFixed(1)} s.`,
  ]
}

/** The first refused entries. */
export function toRefusalLines(refused: readonly SyncReport['refused'][number][], total: number): string[] {
  const shown = refused.slice(0, refusalsShownMax)
  const hidden = total - shown.length
  return [
    ...shown.map(({ subject, reason, detail }) => `  refused ${toOneLine(subject)} (${reason}): ${toOneLine(detail)}`),
    ...(hidden > 0 ? [`  and ${toCount(hidden)} more.`] : []),
  ]
}

function toWhen({ syncedAt, triedAt, nextAt }: ShownUpstream): string {
  const synced = syncedAt === null ? ', never synced' : `, synced ${syncedAt}`
  const tried = triedAt !== null && triedAt !== syncedAt ? `, tried ${triedAt}` : ''
  return `${synced}${tried}${nextAt === null ? ', by hand' : `, next ${nextAt}`}`
}

function toSelectionText({ settings: { mode, selected, filters, priority } }: ShownUpstream): string {
  const names = mode === 'selected' ? ` ${selected.join(', ')}` : ''
  const chosen = Object.entries(filters).map(([filter, value]) => `; ${filter} ${[value].flat().join(', ')}`)
  return `${mode}${names}${chosen.join('')}${priority === 0 ? '' : `; priority ${priority}`}`
}

/** The estimated remaining time of the sync from an upstream without a log. */
function toEstimateText({ estimate }: ShownUpstream): string {
  if (estimate === null) return ''
  const minutes = Math.ceil(estimate.secondsLeft / 60)
  return `${toCount(estimate.left, 'skill')} to read, about ${toCount(minutes)} min from ${estimate.at} on`
}

function toLog({ logOrigin, verified, applied, checkpointAt, freezeChecked }: ShownUpstream): string {
  if (logOrigin === null) return ''
  const signed = checkpointAt === null ? 'without a signing time' : `signed ${checkpointAt}`
  const frozen = freezeChecked ? '' : '; a freeze attack cannot be detected'
  return `${logOrigin}, ${toCount(verified)} entries verified, ${toCount(applied)} applied, ${signed}${frozen}`
}

function toAccount({ hasApiKey, account }: ShownUpstream): string {
  if (!hasApiKey) return ''
  return account === null ? 'an API key is stored' : `the API key of ${account} is stored`
}

function toWrites({ name, writesWaiting, writesInConflict }: ShownUpstream): string {
  if (writesWaiting + writesInConflict === 0) return ''
  return `${writesWaiting} pending, ${writesInConflict} in conflict: mirror outbox list --upstream ${name}`
}

function toIsoTime(at: number): string
function toIsoTime(at: number | null): string | null
function toIsoTime(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString()
}

/** The header of a bundle as lines of text. */
export function toBundleLines(header: BundleHeader): string[] {
  const { origin, epoch, since, until, keys, maker, filters, createdAt, counts } = header
  const facts = [
    ['log', `${origin}, epoch ${epoch}`],
    ['entries', since === until ? `none after ${since}` : `${since + 1} to ${until}`],
    ['content', `${counts.complete} of ${counts.versions} versions, ${counts.blobs} files, ${toSize(counts.bytes)}`],
    ...Object.entries(filters).map(([filter, value]) => ['only', `${filter} ${[value].flat().join(', ')}`] as const),
    ['made', maker ? `${createdAt}, by ${maker.name}` : createdAt],
    ...keys.map((key) => ['key', key] as const),
  ] as const
  return toFactLines(facts, 8)
}
