import { offeredVersion, toRecalledField } from '../catalogue/versions/recalls.ts'
import { parseJson, type VersionRow } from '../storage/tables.ts'
import {
  accessKinds,
  compareVersions,
  type HeartbeatResult,
  isVersion,
  toVersionSortKey,
  updateReasons,
  type Widens,
} from '@skillstead/protocol'
import { findWidening } from '@skillstead/scanner'
import { sql } from 'kysely'
import { findWithdrawn } from '../catalogue/requires/required-skills.ts'
import { readStoredRequires, requiresMetadata } from '../catalogue/versions/stored-requires.ts'
import type { StorageContext } from '../storage/storage-context.ts'
import type { Param } from '../storage/compiled-query.ts'
import { compileListQuery } from '../storage/list-query.ts'
import {
  type VersionFault,
  type UpdateFinding,
  type InstalledSkill,
  isFlagged,
  type UpdateReason,
  type Asker,
  keepOffered,
  lookUpSkills,
  offered,
} from './look-up-installs.ts'
import { guest } from '../kernel/caller.ts'

type Update = HeartbeatResult['updates'][number]

/** The condition of each reason. If several hold, the worst applies: the first in `updateReasons`. */
const isReasonOf: { [K in UpdateReason]: (installed: InstalledSkill) => boolean } = {
  taken_down: ({ takenDown }) => takenDown,
  flagged: ({ skill, fault }) => isFlagged(skill) || fault === 'dangerous',
  recalled: ({ fault }) => fault === 'recalled',
  yanked: ({ fault }) => fault === 'yanked',
  drifted: ({ fault }) => fault === 'drifted',
  dependency_withdrawn: ({ withdrawn }) => withdrawn !== undefined,
  deprecated: ({ skill }) => skill.deprecated === 1,
  outdated: ({ skill, item }) => isOutdated(item.version, skill.latest_version),
}

/** The updates for an agent's installed skills, at most one per skill, in the order of the request. */
export async function listUpdates(
  context: StorageContext,
  installed: readonly InstalledSkill[],
  asker: Pick<Asker, 'userIds' | 'caller'>,
): Promise<Update[]> {
  const versions = await readVersions(context, installed)
  const withdrawals = await findWithdrawn(context, versions, asker.caller)
  const faults = new Map(versions.map((version) => [version.place, version]))
  const worst = new Map<string, UpdateFinding>()
  for (const [i, one] of installed.entries()) {
    const { id } = one.skill
    const { fault, recalledBy } = faults.get(i) ?? {}
    const found = { ...one, fault, recalledBy, withdrawn: withdrawals.get(i) }
    const reason = toUpdateReason(found)
    const before = worst.get(id)
    if (reason && (!before || isWorse(reason, before.reason))) worst.set(id, { ...found, reason })
  }
  const findings = [...worst.values()]
  const replacements = await findReplacements(context, findings, asker)
  const widenings = await readWidenings(context, findings)
  const worse = await readWorse(context, findings)
  return findings.map((finding) => {
    const { id } = finding.skill
    return toUpdate(finding, replacements.get(id) ?? null, widenings.get(id) ?? null, worse.get(id))
  })
}

/** The worst reason to act on an installed skill; undefined if there is none. */
export function toUpdateReason(installed: InstalledSkill): UpdateReason | undefined {
  return updateReasons.find((reason) => isReasonOf[reason](installed))
}

function isWorse(reason: UpdateReason, than: UpdateReason): boolean {
  return updateReasons.indexOf(reason) < updateReasons.indexOf(than)
}

/**
 * Whether an installed version is outdated. Text that is no version is outdated if it differs from the latest version.
 * A version newer than the latest one is not outdated, since the agent chose it.
 */
function isOutdated(version: string, latest: string): boolean {
  if (latest === '') return false
  return isVersion(version) ? compareVersions(latest, version) > 0 : version !== latest
}

/** Selects only versions that have a problem or may require other skills; most versions have and require nothing. */
const selectVersions = compileListQuery((db, param: Param<{ had: Iterable<readonly unknown[]> }>, lists) =>
  db
    .selectFrom(lists.table(param('had')).as('had'))
    .innerJoin('versions', (join) =>
      join.on('versions.skill_id', '=', sql<string>`had.value ->> 0`).on('sort_key', '=', sql<string>`had.value ->> 1`),
    )
    .leftJoin('scans', 'scans.version_id', 'versions.id')
    .select([sql<number | string>`had.value ->> 3`.as('place'), 'yanked', 'recalled_by', 'digest', 'verdict'])
    .select(['requires', requiresMetadata.as('metadata')])
    .where(
      sql<boolean>`yanked = 1 or recalled_by is not null or verdict = 'dangerous' or requires is null or requires <> ''
        or (had.value ->> 2 <> '' and had.value ->> 2 <> digest)`,
    ),
)

/** The problems and requirements of the installed versions, each with its position in `installed`. */
async function readVersions({ database }: StorageContext, installed: readonly InstalledSkill[]) {
  const had = installed.flatMap(({ skill, item: { version, digest = '' } }, place) =>
    isVersion(version) ? [[skill.id, toVersionSortKey(version), digest, place]] : [],
  )
  const rows = had.length > 0 ? await selectVersions(database, { had }) : []
  return rows.map((row) => {
    const place = Number(row.place)
    const { skill, item } = installed[place]!
    return {
      place,
      fault: toFault(row, item),
      recalledBy: row.recalled_by,
      owner: skill.owner,
      requires: readStoredRequires(row),
    }
  })
}

type FaultRow = Pick<VersionRow, 'yanked' | 'recalled_by' | 'digest'> & { readonly verdict: string | null }

function toFault(
  { yanked, recalled_by, digest, verdict }: FaultRow,
  { digest: own = '' }: InstalledSkill['item'],
): VersionFault | undefined {
  if (verdict === 'dangerous') return 'dangerous'
  if (recalled_by !== null) return 'recalled'
  if (yanked === 1) return 'yanked'
  return own === '' || own === digest ? undefined : 'drifted'
}

function toUpdate(
  finding: UpdateFinding,
  replacement: string | null,
  widens: Widens | null,
  worse: Worse | undefined,
): Update {
  const { skill, takenDown, item, reason, recalledBy = null } = finding
  const advice = replacement === null ? '' : ` Use ${replacement} instead.`
  return {
    skillName: item.skillName,
    fullName: skill.full_name,
    installedVersion: item.version,
    latestVersion: takenDown ? '' : skill.latest_version,
    reason,
    ...(!takenDown && toRecalledField(skill, { recalled_by: recalledBy })),
    message:
      updateMessages[reason](finding) +
      (worse ? toWorseAdvice(skill.latest_version, worse) : '') +
      (widens ? toWideningAdvice(widens) : '') +
      advice,
    deprecationMessage: skill.deprecated === 1 && !takenDown ? skill.deprecation_message : '',
    replacement,
    widens,
    ...(worse && { worseThan: worse.than }),
  }
}

/** Agents trust these sentences of the registry, so text by authors is in separate fields of the response. */
const updateMessages: { [K in UpdateReason]: (installed: InstalledSkill) => string } = {
  taken_down: ({ skill }) => `${skill.full_name} is under a takedown and no longer served. Stop using it.`,
  flagged: ({ skill, item: { version } }) =>
    isFlagged(skill)
      ? `${skill.full_name} is marked as dangerous. Stop using it.`
      : `The scan rates ${skill.full_name}@${version} as dangerous. Stop using it.`,
  recalled: ({ skill, item: { version } }) =>
    skill.latest_version === ''
      ? `${skill.full_name}@${version} was recalled, and there is no other version. Stop using it and remove it.`
      : `${skill.full_name}@${version} was recalled. Stop using it. Install ${skill.latest_version} instead.`,
  yanked: ({ skill, item: { version } }) =>
    skill.latest_version === ''
      ? `${skill.full_name}@${version} was yanked, and there is no other version.`
      : `${skill.full_name}@${version} was yanked. Install ${skill.latest_version} instead.`,
  drifted: ({ skill, item: { version } }) => {
    const other = isOutdated(version, skill.latest_version) ? `, or ${skill.latest_version}` : ''
    return `Your copy of ${skill.full_name}@${version} differs from the published version. Install ${version} again${other}.`
  },
  dependency_withdrawn: ({ skill, withdrawn }) =>
    `${skill.full_name} requires ${withdrawn?.fullName} ${withdrawn?.range}, of which no version is offered any more.`,
  deprecated: ({ skill }) => `${skill.full_name} is deprecated.`,
  outdated: ({ skill, item: { version } }) =>
    `${skill.full_name} is at ${skill.latest_version}${version === '' ? '' : `, and you have ${version}`}. Update it.`,
}

/** Selects only updates that change what a skill accesses; few updates do. */
const selectWays = compileListQuery((db, param: Param<{ ways: Iterable<readonly unknown[]> }>, lists) =>
  db
    .selectFrom(lists.table(param('ways')).as('way'))
    .innerJoin('versions as before', (join) =>
      join
        .on('before.skill_id', '=', sql<string>`way.value ->> 0`)
        .on('before.sort_key', '=', sql<string>`way.value ->> 1`),
    )
    .innerJoin('versions as after', (join) =>
      join
        .on('after.skill_id', '=', sql<string>`way.value ->> 0`)
        .on('after.sort_key', '=', sql<string>`way.value ->> 2`),
    )
    .innerJoin('version_access as had', 'had.version_id', 'before.id')
    .innerJoin('version_access as latest', 'latest.version_id', 'after.id')
    .select([sql<number | string>`way.value ->> 3`.as('place'), 'had.access as had', 'latest.access as latest'])
    .whereRef('had.access', '<>', 'latest.access'),
)

/** Reasons to install the latest version. */
const updating: ReadonlySet<UpdateFinding['reason']> = new Set(['outdated', 'yanked', 'recalled'])

/**
 * A comparison of the latest version of a skill by users: `voices` users report that it does worse than the version
 * `than`.
 */
interface Worse {
  readonly than: string
  readonly voices: number
}

/** Selects only latest versions that, according to users, do worse than a version that is still offered; few do. */
const selectWorse = compileListQuery((db, param: Param<{ latest: Iterable<readonly unknown[]> }>, lists) =>
  db
    .selectFrom(lists.table(param('latest')).as('one'))
    .innerJoin('versions as latest', (join) =>
      join
        .on('latest.skill_id', '=', sql<string>`one.value ->> 0`)
        .on('latest.sort_key', '=', sql<string>`one.value ->> 1`),
    )
    .innerJoin('versions', 'versions.skill_id', 'latest.skill_id')
    .select(['latest.skill_id', 'latest.evaluations'])
    .where('latest.evaluations', 'like', '%"change":"worse"%')
    .where(sql<boolean>`latest.evaluations like '%"comparedTo":"' || versions.version || '"%'`)
    .where(offeredVersion),
)

/**
 * For outdated skills, by skill id: the version than which the latest version does worse. Recalled and yanked versions
 * are left out, because users must replace them in any case.
 */
async function readWorse({ database }: StorageContext, findings: readonly UpdateFinding[]) {
  const latest = findings.flatMap(({ skill, reason }) =>
    reason === 'outdated' ? [[skill.id, toVersionSortKey(skill.latest_version)]] : [],
  )
  const rows = latest.length > 0 ? await selectWorse(database, { latest }) : []
  return new Map(
    rows.map(({ skill_id, evaluations }): [string, Worse] => {
      const { comparedTo, comparedBy } = parseJson(evaluations!)
      return [skill_id, { than: comparedTo!, voices: comparedBy! }]
    }),
  )
}

function toWorseAdvice(latest: string, { than, voices }: Worse): string {
  return ` ${voices === 1 ? '1 user reports' : `${voices} users report`} that ${latest} does worse than ${than}.`
}

/** The access that updates of skills would add, by skill id, with one query for all of them. */
async function readWidenings({ database }: StorageContext, findings: readonly UpdateFinding[]) {
  const ways = findings.flatMap(({ skill, item: { version }, reason }, place) =>
    updating.has(reason) && isVersion(version) && skill.latest_version !== '' && version !== skill.latest_version
      ? [[skill.id, toVersionSortKey(version), toVersionSortKey(skill.latest_version), place]]
      : [],
  )
  const rows = ways.length > 0 ? await selectWays(database, { ways }) : []
  return new Map(
    rows.flatMap(({ place, had, latest }) => {
      const { skill, item } = findings[Number(place)]!
      const earlier = { version: item.version, access: parseJson(had) }
      const later = { version: skill.latest_version, access: parseJson(latest) }
      const widens = findWidening(earlier, later)
      return widens ? [[skill.id, widens] as const] : []
    }),
  )
}

/**
 * The access that an update adds, in numbers only: agents read this sentence, and the names of what a version accesses
 * are its author's text.
 *
 * @example ' Review it first: although it is a patch, it newly uses 1 command and 2 hosts.'
 */
function toWideningAdvice({ patch, added }: Widens): string {
  const counts = accessKinds.flatMap((kind) => {
    const count = added[kind].length
    const [one, many] = accessWords[kind]
    return count > 0 ? [`${count} ${count === 1 ? one : many}`] : []
  })
  const [last, ...rest] = counts.toReversed()
  const listed =
    rest.length > 0 ? `${rest.toReversed().join(', ')} and ${last}` : (last ?? 'more than could be analysed')
  return ` Review it first: ${patch ? 'although it is a patch, it' : 'it'} newly uses ${listed}.`
}

const accessWords: Readonly<Record<(typeof accessKinds)[number], readonly [one: string, many: string]>> = {
  tools: ['tool', 'tools'],
  commands: ['command', 'commands'],
  hosts: ['host', 'hosts'],
  environment: ['environment variable', 'environment variables'],
  packages: ['package', 'packages'],
  files: ['file path', 'file paths'],
}

/** The maximum number of names in a deprecation message that are looked up. */
const namedMax = 5
/** `owner/name` in a text, but not as part of a URL or path. */
const fullNamePattern = /(?<![\w./-])[a-z0-9]+(?:-[a-z0-9]+)*\/[a-z0-9]+(?:-[a-z0-9]+)*(?![\w/-])/g

/**
 * Reasons to replace a skill rather than update it. A yank or recall is such a reason only if there is no other
 * version.
 */
const leaving: { [K in UpdateReason]?: true } = { taken_down: true, flagged: true, deprecated: true }
const withdrawing: { [K in UpdateReason]?: true } = { yanked: true, recalled: true }

/**
 * Replacements of skills, by id: the first skill that the owner names in the deprecation message, else the fork by a
 * verified author with the most agent installs. All replacements are public and their scans are safe; no user is sent
 * to a fork of their own.
 */
async function findReplacements(
  context: StorageContext,
  findings: readonly UpdateFinding[],
  { userIds }: Pick<Asker, 'userIds'>,
): Promise<ReadonlyMap<string, string>> {
  const left = findings.filter(
    ({ reason, skill }) => leaving[reason] || (withdrawing[reason] && skill.latest_version === ''),
  )
  if (left.length === 0) return new Map()
  const [named, forked] = await Promise.all([
    findNamedSkills(context, left, userIds),
    findForks(context, left, userIds),
  ])
  return new Map([...forked, ...named])
}

async function findNamedSkills(context: StorageContext, left: readonly UpdateFinding[], userIds: ReadonlySet<string>) {
  const candidates = left.map(({ skill }) => ({ skill, names: readNamedSkills(skill.deprecation_message) }))
  const { found } = await lookUpSkills(context, new Set(candidates.flatMap(({ names }) => names)), guest)
  const ids = new Set([...found.values()].map(({ skill }) => skill.id))
  const fullNames = await keepOffered(context, [...ids], userIds)
  const chosen = new Map<string, string>()
  for (const { skill, names } of candidates) {
    const others = names.map((name) => found.get(name)?.skill.id).filter((id) => id !== undefined && id !== skill.id)
    const fullName = others.map((id) => fullNames.get(id!)).find((name) => name !== undefined)
    if (fullName !== undefined) chosen.set(skill.id, fullName)
  }
  return chosen
}

function readNamedSkills(message: string): string[] {
  return [...message.matchAll(fullNamePattern)].slice(0, namedMax).map(([name]) => name)
}

const selectAliases = compileListQuery((db, param: Param<{ skillIds: Iterable<string> }>, lists) =>
  db
    .selectFrom('aliases')
    .select(['full_name', 'skill_id'])
    .where(lists.has('skill_id', param('skillIds'))),
)

/** Selects one fork per source: the most installed one, or the oldest of equally installed ones. */
const selectForks = compileListQuery(
  (db, param: Param<{ sources: Iterable<string>; userIds: Iterable<string> }>, lists) =>
    db
      .selectFrom((eb) =>
        eb
          .selectFrom('skills')
          .select(['forked_from', 'full_name', 'agent_installs'])
          .select((field) =>
            field.fn
              .agg<number>('row_number')
              .over((over) => over.partitionBy('forked_from').orderBy('agent_installs', 'desc').orderBy('id'))
              .as('place'),
          )
          .where(lists.has('forked_from', param('sources')))
          .where(lists.lacks('owner_id', param('userIds')))
          .where('verified', '=', (field) => field.lit(1))
          .where(offered)
          .as('forks'),
      )
      .select(['forked_from', 'full_name', 'agent_installs'])
      .$narrowType<{ forked_from: string }>()
      .where('place', '=', (eb) => eb.lit(1)),
)

/**
 * The best fork of each skill, by skill id. Also finds forks by former names of a skill, since a fork stores the name
 * that its source had when it was forked.
 */
async function findForks({ database }: StorageContext, left: readonly UpdateFinding[], userIds: ReadonlySet<string>) {
  const ids = left.map(({ skill }) => skill.id)
  const sources = new Map(left.map(({ skill }) => [skill.full_name, skill.id]))
  for (const { full_name, skill_id } of await selectAliases(database, { skillIds: ids }))
    sources.set(full_name, skill_id)
  const chosen = new Map<string, { full_name: string; agent_installs: number }>()
  for (const fork of await selectForks(database, { sources: sources.keys(), userIds })) {
    const id = sources.get(fork.forked_from)!
    if ((chosen.get(id)?.agent_installs ?? -1) < fork.agent_installs) chosen.set(id, fork)
  }
  return new Map([...chosen].map(([id, { full_name }]) => [id, full_name]))
}
