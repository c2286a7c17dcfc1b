import { compareVersions, isVersion, type HeartbeatResult, type Recalled, type RegistryApi } from '@skillstead/protocol'
import type { LockedSkill } from './lock.ts'
import { isListOf, isObject, requireShape, waitForTurn } from './offer.ts'
import { readRecalled } from './recall-text.ts'
import { withSource, type Session } from './session.ts'

/** An installed skill with an update or warning from its registry. */
export interface Notice {
  readonly fullName: string
  readonly version: string
  /** The version to update to; null if there is none. */
  readonly latestVersion: string | null
  readonly reason: HeartbeatResult['updates'][number]['reason'] | 'unknown'
  readonly message: string
  /** The author's deprecation message; empty if not deprecated. */
  readonly deprecationMessage: string
  /** The recall of the installed version. */
  readonly recalled?: Recalled | undefined
  readonly source: string
}

type Locked = readonly [fullName: string, LockedSkill]

/** The maximum number of skills in one heartbeat. */
const heartbeatBatch = 1000

/** Asks each registry once about the skills that came from it. The requests count no downloads. */
export async function listNotices(session: Session, locked: readonly Locked[]): Promise<Notice[]> {
  const notices: Notice[] = []
  for (const [source, skills] of Map.groupBy(locked, ([, skill]) => skill.source)) {
    for (let at = 0; at < skills.length; at += heartbeatBatch) {
      const some = skills.slice(at, at + heartbeatBatch)
      notices.push(...(await withSource(session.given, source, (api) => askAbout(session, api, some))))
    }
  }
  return notices
}

async function askAbout(session: Session, api: RegistryApi, skills: readonly Locked[]): Promise<Notice[]> {
  const installedSkills = skills.map(([skillName, { version, digest }]) => ({ skillName, version, digest }))
  const answer = await waitForTurn(() => api.heartbeat({ installedSkills }), session.output.say)
  requireShape(isListOf(answer?.updates, isUpdateRow) && Array.isArray(answer.unknown))
  const { updates, unknown } = answer
  session.recalls.note(toReportedRecalls(skills, answer))
  return skills.flatMap(([fullName, { version, source }]): Notice[] => {
    const update = updates.find(({ skillName }) => skillName === fullName)
    if (update) {
      // Older nodes do not send `deprecationMessage`.
      const { latestVersion, reason, message, deprecationMessage = '' } = update
      const latest = isVersion(latestVersion) && latestVersion !== version ? latestVersion : null
      const recalled = toRecalled(update)
      return [{ fullName, version, latestVersion: latest, reason, message, deprecationMessage, recalled, source }]
    }
    if (!unknown.includes(fullName)) return []
    const message = `${fullName} is not in this registry, or you cannot see it.`
    return [{ fullName, version, latestVersion: null, reason: 'unknown', message, deprecationMessage: '', source }]
  })
}

function isUpdateRow(row: unknown): boolean {
  return isObject(row) && [row.skillName, row.reason, row.message].every((field) => typeof field === 'string')
}

/**
 * What a heartbeat reported about each of the skills that it asked about, for {@link Session.recalls}. Leaves out a
 * skill that does not exist or is taken down: the answer does not report whether its version is recalled.
 */
export function toReportedRecalls(skills: readonly Locked[], { updates, unknown }: HeartbeatResult) {
  return skills.flatMap(([fullName, { version, digest, source }]) => {
    const update = updates.find(({ skillName }) => skillName === fullName)
    const recalled = toRecalled(update)
    if (!recalled && (update?.reason === 'taken_down' || unknown.includes(fullName))) return []
    return [{ source, fullName, version, digest, recalled }]
  })
}

/** The recall that a row of a heartbeat response reports; its texts may be missing. */
export function toRecalled(update: HeartbeatResult['updates'][number] | undefined): Recalled | undefined {
  return readRecalled(update?.recalled ?? (update?.reason === 'recalled' ? {} : undefined))
}

/** The text of a notice, with the reason of a recall and the author's deprecation message. */
export function toNoticeText({ message, deprecationMessage, recalled }: Notice): string {
  const reason = recalled ? ` The reason that was given (${recalled.range}): ${recalled.reason}` : ''
  return message + reason + (deprecationMessage === '' ? '' : ` Author's message: ${deprecationMessage}`)
}

/** Whether an update would install the latest version: it is newer, or the installed version was yanked or recalled. */
export function isUpdate(notice: Notice): boolean {
  const { reason, version, latestVersion } = notice
  if (latestVersion === null || reason === 'taken_down' || reason === 'unknown') return false
  return isWithdrawn(notice) || compareVersions(latestVersion, version) > 0
}

/** Whether the installed version was yanked or recalled. */
export function isWithdrawn({ reason }: Notice): boolean {
  return reason === 'yanked' || reason === 'recalled'
}
