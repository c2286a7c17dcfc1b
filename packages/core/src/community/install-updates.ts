import {
  compareVersions,
  isVersion,
  toVersionSortKey,
  updateReasons,
  type HeartbeatResult,
  type Widens,
} from '@skillstead/protocol'
import { sql } from 'kysely'
import type { CommunityContext } from './community-context.ts'
import { keepListQuery } from '../storage/list-query.ts'
import type { Found } from './look-up-installs.ts'
import { isFlagged } from './offered-skills.ts'
import type { Asker } from './recommendations.ts'
import { findReplacements } from './replacements.ts'
import { readWidenings, toWideningAdvice } from './widened-access.ts'

/** What an agent says that it has. */
export interface InstalledItem {
  readonly skillName: string
  readonly version: string
  readonly digest?: string | undefined
}

export type Reason = (typeof updateReasons)[number]
type Update = HeartbeatResult['updates'][number]

type Fault = 'dangerous' | 'yanked' | 'drifted'

/** An item with what is known of it. */
export interface Installed extends Found {
  readonly item: InstalledItem
  /** What is wrong with the version that the agent has, where it was published here. */
  readonly fault?: Fault | undefined
}

/** An item that its agent should look at. */
export interface Finding extends Installed {
  readonly reason: Reason
}

/** When a reason holds. Of those that do, the worst counts: the first in `updateReasons`. */
const signs: { [K in Reason]: (installed: Installed) => boolean } = {
  taken_down: ({ takenDown }) => takenDown,
  flagged: ({ skill, fault }) => isFlagged(skill) || fault === 'dangerous',
  yanked: ({ fault }) => fault === 'yanked',
  drifted: ({ fault }) => fault === 'drifted',
  deprecated: ({ skill }) => skill.deprecated === 1,
  outdated: ({ skill, item }) => isOutdated(item.version, skill.latest_version),
}

/** What is to be said of the skills that an agent has: one entry a skill, in the order in which it named them. */
export async function listUpdates(
  context: CommunityContext,
  installed: readonly Installed[],
  asker: Pick<Asker, 'userIds'>,
): Promise<Update[]> {
  const faults = await readFaults(context, installed)
  const worst = new Map<string, Finding>()
  for (const [i, one] of installed.entries()) {
    const { id } = one.skill
    const fault = faults.get(i)
    const reason = toReason(fault ? { ...one, fault } : one)
    const before = worst.get(id)
    if (reason && (!before || isWorse(reason, before.reason))) worst.set(id, { ...one, fault, reason })
  }
  const findings = [...worst.values()]
  const replacements = await findReplacements(context, findings, asker)
  const widenings = await readWidenings(context, findings)
  return findings.map((finding) => {
    const { id } = finding.skill
    return toUpdate(finding, replacements.get(id) ?? null, widenings.get(id) ?? null)
  })
}

/** The worst reason to look at an installed skill; undefined where all is well. */
export function toReason(installed: Installed): Reason | undefined {
  return updateReasons.find((reason) => signs[reason](installed))
}

function isWorse(reason: Reason, than: Reason): boolean {
  return updateReasons.indexOf(reason) < updateReasons.indexOf(than)
}

/** What cannot be compared is taken for old. What is newer than all there is here is its maker's matter. */
function isOutdated(version: string, latest: string): boolean {
  if (latest === '') return false
  return isVersion(version) ? compareVersions(latest, version) > 0 : version !== latest
}

/** Nearly all versions are as they should be, so that only the others are read. */
const selectFaults = keepListQuery<{ place: number | string; yanked: number; verdict: string | null }>((db, lists) =>
  db
    .selectFrom(lists.table().as('had'))
    .innerJoin('versions', (join) =>
      join.on('versions.skill_id', '=', sql<string>`had.value ->> 0`).on('sort_key', '=', sql<string>`had.value ->> 1`),
    )
    .leftJoin('scans', 'scans.version_id', 'versions.id')
    .select([sql<number | string>`had.value ->> 3`.as('place'), 'yanked', 'verdict'])
    .where(sql<boolean>`yanked = 1 or verdict = 'dangerous' or (had.value ->> 2 <> '' and had.value ->> 2 <> digest)`),
)

/** What is wrong with the versions that an agent has, by their places in the list. */
async function readFaults({ database }: CommunityContext, installed: readonly Installed[]) {
  const had = installed.flatMap(({ skill, item: { version, digest = '' } }, place) =>
    isVersion(version) ? [[skill.id, toVersionSortKey(version), digest, place]] : [],
  )
  const rows = had.length > 0 ? await selectFaults(database, had) : []
  return new Map(rows.map(({ place, ...row }) => [Number(place), toFault(row)]))
}

function toFault({ yanked, verdict }: { yanked: number; verdict: string | null }): Fault {
  if (verdict === 'dangerous') return 'dangerous'
  return yanked === 1 ? 'yanked' : 'drifted'
}

function toUpdate(finding: Finding, replacement: string | null, widens: Widens | null): Update {
  const { skill, takenDown, item, reason } = finding
  const advice = replacement === null ? '' : ` ${replacement} can take its place.`
  return {
    skillName: item.skillName,
    fullName: skill.full_name,
    installedVersion: item.version,
    latestVersion: takenDown ? '' : skill.latest_version,
    reason,
    message: messages[reason](finding) + (widens ? toWideningAdvice(widens) : '') + advice,
    deprecationMessage: skill.deprecated === 1 && !takenDown ? skill.deprecation_message : '',
    replacement,
    widens,
  }
}

/**
 * What to do about it, for the agent and the people behind it. Agents take these sentences for the registry's own, so
 * what an author wrote stands in fields of its own.
 */
const messages: { [K in Reason]: (installed: Installed) => string } = {
  taken_down: ({ skill }) => `${skill.full_name} is under a takedown and no longer served. Stop using it.`,
  flagged: ({ skill, item: { version } }) =>
    isFlagged(skill)
      ? `${skill.full_name} is marked as dangerous. Stop using it.`
      : `The scan calls ${skill.full_name}@${version} dangerous. Stop using it.`,
  yanked: ({ skill, item: { version } }) =>
    skill.latest_version === ''
      ? `${skill.full_name}@${version} was yanked, and there is no other version.`
      : `${skill.full_name}@${version} was yanked. Install ${skill.latest_version} instead.`,
  drifted: ({ skill, item: { version } }) => {
    const other = isOutdated(version, skill.latest_version) ? `, or ${skill.latest_version}` : ''
    return `Your copy of ${skill.full_name}@${version} is not what was published. Install ${version} again${other}.`
  },
  deprecated: ({ skill }) => `${skill.full_name} is deprecated.`,
  outdated: ({ skill, item: { version } }) =>
    `${skill.full_name} is at ${skill.latest_version}${version === '' ? '' : `, and yours is ${version}`}. Update it.`,
}
