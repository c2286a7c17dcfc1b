import type { MirrorReport, MirrorStatus, MirrorWrite } from '@skillstead/protocol'
import type { SyncReport, UpstreamStatus } from './types.ts'
import type { OutboxWrite } from './write-types.ts'

/** Converts the state of an upstream to its form in the API, with times as ISO 8601 texts. */
export function toShownStatus(status: UpstreamStatus): MirrorStatus {
  // Leaves out whether an API key is stored, and its account, which only the CLI shows.
  const { hasApiKey: _hasApiKey, account: _account, settings, alarm, lastError, estimate, lastReport, ...rest } = status
  return {
    ...rest,
    settings: { ...settings, filters: toFiltersForm(settings.filters) },
    alarm: alarm && { ...toNotice(alarm), keys: alarm.keys ?? [] },
    checkpointAt: toTimeForm(status.checkpointAt),
    triedAt: toTimeForm(status.triedAt),
    syncedAt: toTimeForm(status.syncedAt),
    nextAt: toTimeForm(status.nextAt),
    estimate: estimate && { left: estimate.left, secondsLeft: estimate.secondsLeft, at: toTimeForm(estimate.at) },
    lastReport: lastReport && toReportForm(lastReport),
    lastError: lastError && toNotice(lastError),
  }
}

export function toShownWrite({ problem, createdAt, endedAt, ...write }: OutboxWrite): MirrorWrite {
  return {
    ...write,
    problem: problem && toNotice(problem),
    createdAt: toTimeForm(createdAt),
    endedAt: toTimeForm(endedAt),
  }
}

/** Selects the known fields of a stored report: another version of this program may have stored more or fewer. */
function toReportForm(report: SyncReport): MirrorReport {
  const { upstream, applied, requests, head, unchanged, refused, refusedTotal, removed, bytes, durationMs } = report
  const { omitted = [], changed = [] }: Partial<SyncReport> = report
  const counts = { upstream, applied, requests, head, unchanged, refused, refusedTotal, removed, bytes, durationMs }
  return { ...counts, omitted, changed }
}

function toFiltersForm({
  owners,
  names,
  keywords,
  categories,
  licenses,
  ...rest
}: UpstreamStatus['settings']['filters']) {
  const lists = { owners, names, keywords, categories, licenses }
  return {
    ...rest,
    ...Object.fromEntries(Object.entries(lists).flatMap(([name, list]) => (list ? [[name, [...list]]] : []))),
  }
}

function toNotice({ code, message, at }: { code: string; message: string; at: number }) {
  return { code, message, at: toTimeForm(at) }
}

function toTimeForm(at: number): string
function toTimeForm(at: number | null): string | null
function toTimeForm(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString()
}
