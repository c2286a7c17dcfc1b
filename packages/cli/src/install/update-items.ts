import { compareVersions, isVersion, type HeartbeatResult, type RegistryApi } from '@skillstead/protocol'
import type { LockedSkill } from './lock.ts'
import { isListOf, isObject, requireShape, waitForTurn, type Say } from './offer.ts'
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
  readonly source: string
}

type Locked = readonly [fullName: string, LockedSkill]

/** The maximum of one heartbeat. */
const heartbeatBatch = 1000

/** Asks each registry once about the skills that came from it. The requests count no downloads. */
export async function listNotices(session: Session, locked: readonly Locked[]): Promise<Notice[]> {
  const notices: Notice[] = []
  for (const [source, skills] of Map.groupBy(locked, ([, skill]) => skill.source)) {
    for (let at = 0; at < skills.length; at += heartbeatBatch) {
      const some = skills.slice(at, at + heartbeatBatch)
      notices.push(...(await withSource(session.given, source, (api) => askAbout(api, some, session.output.say))))
    }
  }
  return notices
}

async function askAbout(api: RegistryApi, skills: readonly Locked[], say: Say): Promise<Notice[]> {
  const installedSkills = skills.map(([skillName, { version, digest }]) => ({ skillName, version, digest }))
  const answer = await waitForTurn(() => api.heartbeat({ installedSkills }), say)
  requireShape(isListOf(answer?.updates, isUpdateRow) && Array.isArray(answer.unknown))
  const { updates, unknown } = answer
  return skills.flatMap(([fullName, { version, source }]): Notice[] => {
    const update = updates.find(({ skillName }) => skillName === fullName)
    if (update) {
      // Older nodes do not send this field.
      const { latestVersion, reason, message, deprecationMessage = '' } = update
      const latest = toOtherVersion(latestVersion, version)
      return [{ fullName, version, latestVersion: latest, reason, message, deprecationMessage, source }]
    }
    if (!unknown.includes(fullName)) return []
    const message = `${fullName} is not in this registry, or you cannot see it.`
    return [{ fullName, version, latestVersion: null, reason: 'unknown', message, deprecationMessage: '', source }]
  })
}

function isUpdateRow(row: unknown): boolean {
  return isObject(row) && [row.skillName, row.reason, row.message].every((field) => typeof field === 'string')
}

/** The text of a notice, with the author's deprecation message. */
export function toNoticeText({ message, deprecationMessage }: Notice): string {
  return deprecationMessage === '' ? message : `${message} Author's message: ${deprecationMessage}`
}

/** Whether an update would install the latest version: it is newer, or the installed one was yanked. */
export function isUpdate({ reason, version, latestVersion }: Notice): boolean {
  if (latestVersion === null || reason === 'taken_down' || reason === 'unknown') return false
  return reason === 'yanked' || compareVersions(latestVersion, version) > 0
}

function toOtherVersion(latestVersion: string, version: string): string | null {
  return isVersion(latestVersion) && latestVersion !== version ? latestVersion : null
}
