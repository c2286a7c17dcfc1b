import type { MirrorReport, MirrorStatus, MirrorWrite } from '@skillstead/protocol'
import type { SyncReport, UpstreamStatus } from '../types.ts'
import type { OutboxWrite } from '../write-types.ts'

/** Converts the state of an upstream to its form in the API, with times as ISO 8601 texts. */
export function toShownStatus(status: UpstreamStatus): MirrorStatus {
  const { settings, alarm, lastError, estimate, lastReport } = status
  const { mode, filters, everySeconds, priority, maxAgeSeconds, pinned, selected } = settings
  return {
    name: status.name,
    kind: status.kind,
    location: status.location,
    settings: { mode, filters: toFilters(filters), everySeconds, priority, maxAgeSeconds, pinned, selected },
    state: status.state,
    alarm: alarm && { ...toTold(alarm), keys: alarm.keys ?? [] },
    logOrigin: status.logOrigin,
    logEpoch: status.logEpoch,
    keys: status.keys,
    staged: status.staged,
    verified: status.verified,
    applied: status.applied,
    checkpointAt: toTime(status.checkpointAt),
    freezeChecked: status.freezeChecked,
    triedAt: toTime(status.triedAt),
    syncedAt: toTime(status.syncedAt),
    skills: status.skills,
    refused: status.refused,
    writesWaiting: status.writesWaiting,
    writesInConflict: status.writesInConflict,
    nextAt: toTime(status.nextAt),
    estimate: estimate && { left: estimate.left, secondsLeft: estimate.secondsLeft, at: toTime(estimate.at) },
    lastReport: lastReport && toReport(lastReport),
    lastError: lastError && toTold(lastError),
  }
}

export function toShownWrite({ problem, createdAt, endedAt, ...write }: OutboxWrite): MirrorWrite {
  return { ...write, problem: problem && toTold(problem), createdAt: toTime(createdAt), endedAt: toTime(endedAt) }
}

/** Selects the known fields: a report stored by another version of this program may have more or fewer. */
function toReport(report: SyncReport): MirrorReport {
  const { upstream, applied, requests, head, unchanged, refused, refusedTotal, removed, bytes, durationMs } = report
  return { upstream, applied, requests, head, unchanged, refused, refusedTotal, removed, bytes, durationMs }
}

function toFilters({ owners, names, keywords, categories, licenses, ...rest }: UpstreamStatus['settings']['filters']) {
  const lists = { owners, names, keywords, categories, licenses }
  return {
    ...rest,
    ...Object.fromEntries(Object.entries(lists).flatMap(([name, list]) => (list ? [[name, [...list]]] : []))),
  }
}

function toTold({ code, message, at }: { code: string; message: string; at: number }) {
  return { code, message, at: toTime(at) }
}

function toTime(at: number): string
function toTime(at: number | null): string | null
function toTime(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString()
}
