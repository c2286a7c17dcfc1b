import { toTimestamp } from '@skillstead/protocol'
import type { LogDraft } from '../../log/append-change.ts'
import { type EvaluationRow, parseJson, type SkillRow } from '../../storage/tables.ts'
import type { WriteTransaction } from '../../storage/writer.ts'
import type { UpstreamLogs } from '../context/ports.ts'
import { findForkSource } from './show-details.ts'
import { listCoveringRecalls, readActiveRecalls, type StoredRecall } from '../versions/recalls.ts'
import type { ListedVersion } from '../versions/skill-document.ts'
import { toFileRow, type VersionContent } from '../versions/stored-version.ts'
import { readSkillEvaluations, toResult } from '../versions/version-evaluations.ts'
import { readVersionContent, type VersionContents } from '../versions/version-files.ts'
import { isPublished } from '../../visibility/decisions.ts'

/** The log entry of a version: all that a mirror needs to show the version, and the digests that prove the content. */
export function toVersionEntry(
  skill: SkillRow,
  version: ListedVersion,
  { metadata, files }: VersionContent,
  holder: boolean,
): LogDraft {
  const { displayName, description, license, keywords } = metadata
  // Repeat the recalls, because mirrors that did not have the skill yet ignored the log entries of these recalls.
  const recalls = version.recalled_by === null ? [] : listCoveringRecalls(skill, version.version)
  const data = {
    holder,
    version: version.version,
    publishedAt: toTimestamp(version.published_at),
    publisher: { id: version.publisher_id, username: version.publisher },
    ...(version.identity !== null && { identity: parseJson(version.identity) }),
    size: version.size,
    files: files.map(toFileRow),
    displayName,
    description,
    license,
    keywords,
    changelog: version.changelog,
    portable: version.portable === 1,
    yanked: version.yanked === 1,
    ...(recalls.length > 0 && { recalls: recalls.map(toLoggedRecall) }),
    category: skill.category,
    repository: skill.repository,
    deprecated: skill.deprecated === 1,
    deprecationMessage: skill.deprecation_message,
    forkedFrom:
      skill.forked_from === null ? null : { fullName: skill.forked_from, version: skill.forked_from_version ?? '' },
  }
  return toLogDraft('version', skill, data, version)
}

/** The entry of a metadata change. */
function toSkillEntry(skill: SkillRow, holder: boolean): LogDraft {
  const data = {
    holder,
    displayName: skill.display_name,
    description: skill.description,
    category: skill.category,
    license: skill.license,
    keywords: parseJson(skill.keywords),
    repository: skill.repository,
    deprecated: skill.deprecated === 1,
    deprecationMessage: skill.deprecation_message,
    latestVersion: skill.latest_version,
  }
  return toLogDraft('skill', skill, data)
}

/** The entry of a yank or of its removal. */
function toYankEntry(skill: SkillRow, version: ListedVersion): LogDraft {
  const data = {
    version: version.version,
    yanked: version.yanked === 1,
    latestVersion: skill.latest_version,
  }
  return toLogDraft('yank', skill, data, version)
}

/** The entry of a recall or of its end. */
export function toRecallEntry(skill: SkillRow, recall: StoredRecall): LogDraft {
  const data = {
    recall: toLoggedRecall(recall),
    ended: recall.endedAt !== undefined,
    latestVersion: skill.latest_version,
  }
  return toLogDraft('recall', skill, data)
}

/** The entry of a result that a user posted for a version, or of its withdrawal. */
export function toEvaluationEntry(
  skill: SkillRow,
  version: Pick<ListedVersion, 'version' | 'digest'>,
  evaluation: EvaluationRow,
): LogDraft {
  const { author_id, author, identity, by_owner, ran_at, posted_at, withdrawn } = evaluation
  const data = {
    version: version.version,
    author: { id: author_id, username: author },
    ...(identity !== null && { identity: parseJson(identity) }),
    byOwner: by_owner === 1,
    ranAt: toTimestamp(ran_at),
    postedAt: toTimestamp(posted_at),
    result: withdrawn === 1 ? null : toResult(evaluation),
  }
  return toLogDraft('evaluation', skill, data, version)
}

function toLoggedRecall({ id, range, reason, at, byAdministrator }: StoredRecall) {
  return { id, range, reason, at: toTimestamp(at), ...(byAdministrator && { byAdministrator }) }
}

/**
 * The entry of a skill that is no longer public: deleted, made private or renamed (`withdrawn`), or under a takedown.
 * The entry does not contain the takedown claim.
 */
function toRemovalEntry(type: 'withdrawn' | 'takedown', skill: SkillRow): LogDraft {
  return toLogDraft(type, skill, {})
}

/** An entry about a skill, or about one of its versions. */
function toLogDraft(
  type: LogDraft['type'],
  { id, name, full_name: fullName, owner: username, owner_id }: SkillRow,
  data: Record<string, unknown>,
  version?: Pick<ListedVersion, 'version' | 'digest'>,
): LogDraft {
  const subject = version ? `${fullName}@${version.version}` : fullName
  const identity = { skill: { id, name, fullName }, owner: { id: owner_id, username } }
  return { type, subject, digest: version?.digest ?? null, data: { ...identity, ...data } }
}

/** A change of a skill that the public log records. */
export type SkillCause =
  | { readonly type: 'version' | 'yank'; readonly versionId: string }
  | { readonly type: 'recall'; readonly recall: StoredRecall }
  | { readonly type: 'skill' }
  | { readonly type: 'evaluation'; readonly evaluation: EvaluationRow }
  /** The security score or `verified` changed, and nothing else. */
  | { readonly type: 'judgement' }

/** A change of a skill with the data that its log entries contain. */
interface LoggedChange {
  readonly before: SkillRow | undefined
  readonly skill: SkillRow
  /** All versions, highest first. */
  readonly versions: readonly ListedVersion[]
  readonly contents: VersionContents
  readonly cause: SkillCause
  /** Whether the skill holds its short name. */
  readonly holder: boolean
}

/** The public log entries for a change: the upstream's entry if there is a `relay`, else entries of this node. */
export async function toLogEntries(
  trx: WriteTransaction,
  upstreamLogs: UpstreamLogs,
  change: LoggedChange,
  relay: LogDraft | undefined,
): Promise<LogDraft[]> {
  return relay ? toRelayedEntries(change, relay) : toOwnEntries(trx, upstreamLogs, change)
}

/**
 * Relays an entry of an upstream's log. Removals are always relayed; other entries of a skill that is not public on
 * this node are not.
 */
function toRelayedEntries({ before, skill, holder }: LoggedChange, relay: LogDraft): LogDraft[] {
  if (relay.type === 'withdrawn' || relay.type === 'takedown') return [relay]
  if (!isPublished(skill)) return []
  const moved = before && isPublished(before) && before.full_name !== skill.full_name
  const data = 'holder' in relay.data ? { ...relay.data, holder } : relay.data
  return [...(moved ? [toRemovalEntry('withdrawn', before)] : []), { ...relay, data }]
}

async function toOwnEntries(trx: WriteTransaction, upstreamLogs: UpstreamLogs, change: LoggedChange) {
  const { skill } = change
  const source = (await isSourceShown(trx, skill)) ? {} : { forked_from: null, forked_from_version: null }
  const entries = await toPublicEntries(trx, { ...change, skill: { ...skill, ...source } })
  return skill.origin_kind === 'mirror' ? upstreamLogs.addFirstOrigins(trx, skill, entries) : entries
}

async function toPublicEntries(trx: WriteTransaction, change: LoggedChange): Promise<LogDraft[]> {
  const { before, skill, versions, contents, cause, holder } = change
  const was = before !== undefined && isPublished(before)
  const is = isPublished(skill)
  if (!was && !is) return []
  if (was && !is) return [toRemovalEntry(skill.state === 'taken_down' ? 'takedown' : 'withdrawn', before)]
  if (was && before.full_name !== skill.full_name) {
    return [toRemovalEntry('withdrawn', before), ...(await toAllEntries(trx, change))]
  }
  if (!was) return toAllEntries(trx, change)
  if (cause.type === 'skill' || cause.type === 'judgement')
    return sameInPublic(before, skill) ? [] : [toSkillEntry(skill, holder)]
  if (cause.type === 'evaluation') return toEvaluationEntries(skill, versions, [cause.evaluation])
  const findVersion = (versionId: string) => versions.find(({ id }) => id === versionId)!
  if (cause.type !== 'version') {
    const entry =
      cause.type === 'recall' ? toRecallEntry(skill, cause.recall) : toYankEntry(skill, findVersion(cause.versionId))
    // Mirrors also need a skill entry if the metadata changed, or is not that of the new latest version.
    const isSame = sameInPublic({ ...before, latest_version: skill.latest_version }, skill)
    return isSame && (await showsLatest(trx, change)) ? [entry] : [entry, toSkillEntry(skill, holder)]
  }
  const version = findVersion(cause.versionId)
  const entry = toVersionEntry(skill, version, await readVersionContent(trx, version.id, contents), holder)
  return (await showsLatest(trx, change)) ? [entry] : [entry, toSkillEntry(skill, holder)]
}

/**
 * Whether the skill has the metadata of its latest version, if that is new. Mirrors assume so without a skill entry.
 */
async function showsLatest(trx: WriteTransaction, { before, skill, versions, contents }: LoggedChange) {
  const latest = versions.find(({ version }) => version === skill.latest_version)
  if (latest === undefined || before?.latest_version === skill.latest_version) return true
  const { metadata } = await readVersionContent(trx, latest.id, contents)
  return (
    skill.display_name === metadata.displayName &&
    skill.description === metadata.description &&
    skill.license === metadata.license &&
    skill.keywords === JSON.stringify(metadata.keywords)
  )
}

/** Whether two rows of a skill have equal public fields. Changes of its readers or writers add no log entry. */
function sameInPublic(before: SkillRow, skill: SkillRow): boolean {
  return JSON.stringify(toSkillEntry(before, true)) === JSON.stringify(toSkillEntry(skill, true))
}

/** The log entries of a skill that becomes public: of its whole history, oldest version first. */
async function toAllEntries(trx: WriteTransaction, { skill, versions, contents, cause, holder }: LoggedChange) {
  const entries: LogDraft[] = []
  for (const version of versions.toReversed()) {
    entries.push(toVersionEntry(skill, version, await readVersionContent(trx, version.id, contents), holder))
  }
  for (const recall of readActiveRecalls(skill).toReversed()) entries.push(toRecallEntry(skill, recall))
  if (versions.some(({ evaluations }) => evaluations !== null))
    entries.push(...toEvaluationEntries(skill, versions, await readSkillEvaluations(trx, skill.id)))
  // The entry of a first version is complete; metadata that was set later needs its own entry.
  const isFirst = cause.type === 'version' && versions.length === 1
  return isFirst ? entries : [...entries, toSkillEntry(skill, holder)]
}

function toEvaluationEntries(
  skill: SkillRow,
  versions: readonly ListedVersion[],
  evaluations: readonly EvaluationRow[],
): LogDraft[] {
  const byId = new Map(versions.map((version) => [version.id, version]))
  return evaluations.map((evaluation) => toEvaluationEntry(skill, byId.get(evaluation.version_id)!, evaluation))
}

/** The log is permanent and public, so an entry names a fork's source only if the source is public. */
async function isSourceShown(trx: WriteTransaction, skill: SkillRow): Promise<boolean> {
  if (skill.forked_from === null) return true
  const source = await findForkSource(trx, skill.forked_from)
  return source !== undefined && isPublished(source)
}
