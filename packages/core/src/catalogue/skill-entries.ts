import type { LogDraft } from '../log/append-change.ts'
import type { SkillRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import type { UpstreamLogs } from './catalogue-ports.ts'
import { findSource } from './show-details.ts'
import type { ListedVersion } from './skill-document.ts'
import {
  isPublicMatter,
  toSkillEntry,
  toTakedownEntry,
  toVersionEntry,
  toWithdrawnEntry,
  toYankEntry,
} from './skill-log.ts'
import { readContent, type VersionContents } from './version-contents.ts'

/** A change of a skill that the public log records. */
export type SkillCause =
  | { readonly type: 'version' | 'yank'; readonly versionId: string }
  | { readonly type: 'skill' }
  /** Only its security score or `verified` changed. */
  | { readonly type: 'judgement' }

/** The facts about a change of a skill that its log entries need. */
export interface LoggedChange {
  readonly before: SkillRow | undefined
  readonly skill: SkillRow
  /** All versions, highest first. */
  readonly versions: readonly ListedVersion[]
  readonly contents: VersionContents
  readonly cause: SkillCause
  /** Whether the skill holds its short name. */
  readonly holder: boolean
}

/** The public log entries for a change: those of the upstream's log if `relay` has one, else this node's own. */
export async function toLogEntries(
  trx: WriteTransaction,
  upstreamLogs: UpstreamLogs,
  change: LoggedChange,
  relay: LogDraft | undefined,
): Promise<LogDraft[]> {
  return relay ? toRelayed(change, relay) : toOwnEntries(trx, upstreamLogs, change)
}

/**
 * Relays an entry of an upstream's log. Removals are always relayed; an entry that would make a skill public that is
 * hidden here is not.
 */
function toRelayed({ before, skill, holder }: LoggedChange, relay: LogDraft): LogDraft[] {
  if (relay.type === 'withdrawn' || relay.type === 'takedown') return [relay]
  if (!isPublicMatter(skill)) return []
  const moved = before && isPublicMatter(before) && before.full_name !== skill.full_name
  const data = 'holder' in relay.data ? { ...relay.data, holder } : relay.data
  return [...(moved ? [toWithdrawnEntry(before)] : []), { ...relay, data }]
}

async function toOwnEntries(
  trx: WriteTransaction,
  upstreamLogs: UpstreamLogs,
  change: LoggedChange,
): Promise<LogDraft[]> {
  const { skill } = change
  const source = (await isSourceShown(trx, skill)) ? {} : { forked_from: null, forked_from_version: null }
  const entries = await toEntries(trx, { ...change, skill: { ...skill, ...source } })
  return skill.origin_kind === 'mirror' ? upstreamLogs.addFirstOrigins(trx, skill, entries) : entries
}

async function toEntries(trx: WriteTransaction, change: LoggedChange): Promise<LogDraft[]> {
  const { before, skill, versions, contents, cause, holder } = change
  const was = before !== undefined && isPublicMatter(before)
  const is = isPublicMatter(skill)
  if (!was && !is) return []
  if (was && !is) return [skill.state === 'taken_down' ? toTakedownEntry(before) : toWithdrawnEntry(before)]
  if (was && before.full_name !== skill.full_name) {
    return [toWithdrawnEntry(before), ...(await toAllEntries(trx, change))]
  }
  if (!was) return toAllEntries(trx, change)
  if (cause.type === 'skill' || cause.type === 'judgement')
    return sameInPublic(before, skill) ? [] : [toSkillEntry(skill, holder)]
  const version = versions.find(({ id }) => id === cause.versionId)!
  if (cause.type === 'yank') {
    const yank = toYankEntry(skill, version)
    // Another version describes the skill now, and mirrors need its metadata.
    return sameInPublic({ ...before, latest_version: skill.latest_version }, skill)
      ? [yank]
      : [yank, toSkillEntry(skill, holder)]
  }
  return [toVersionEntry(skill, version, await readContent(trx, version.id, contents), holder)]
}

/** Who else may read or write a skill is not public and makes no log entry. */
function sameInPublic(before: SkillRow, skill: SkillRow): boolean {
  return JSON.stringify(toSkillEntry(before, true)) === JSON.stringify(toSkillEntry(skill, true))
}

/** A skill that becomes public brings its whole history with it, oldest first. */
async function toAllEntries(
  trx: WriteTransaction,
  { skill, versions, contents, cause, holder }: LoggedChange,
): Promise<LogDraft[]> {
  const entries: LogDraft[] = []
  for (const version of versions.toReversed()) {
    entries.push(toVersionEntry(skill, version, await readContent(trx, version.id, contents), holder))
  }
  // The entry of a first version is complete; metadata that was set later needs its own entry.
  const isFirst = cause.type === 'version' && versions.length === 1
  return isFirst ? entries : [...entries, toSkillEntry(skill, holder)]
}

/** The log is permanent and public, so it names a fork's source only if that is public. */
async function isSourceShown(trx: WriteTransaction, skill: SkillRow): Promise<boolean> {
  if (skill.forked_from === null) return true
  const source = await findSource(trx, skill.forked_from)
  return source !== undefined && isPublicMatter(source)
}
