import type { updateReasons } from '@skillstead/protocol'
import { safeScoreMin } from '@skillstead/scanner'
import { sql, type SqlBool } from 'kysely'
import type { StorageContext } from '../storage/storage-context.ts'
import { readSights } from '../visibility/decisions.ts'
import type { Caller } from '../kernel/caller.ts'
import { compileListQuery } from '../storage/list-query.ts'
import type { Param } from '../storage/compiled-query.ts'
import type { SkillRow, AgentRow, AgentSkillRow } from '../storage/tables.ts'
import { listedCondition } from '../visibility/conditions.ts'
import type { Input } from '../kernel/operation-input.ts'

/** The columns that a heartbeat needs of a skill; the public form is not read. */
const knownColumns = [
  ...(['id', 'owner_id', 'owner', 'full_name', 'visibility', 'state', 'category', 'latest_version'] as const),
  ...(['deprecated', 'deprecation_message', 'moderation', 'agent_installs', 'recalls'] as const),
] as const
const skillColumns = knownColumns.map((column) => `skills.${column}` as const)

export type KnownSkill = Pick<SkillRow, (typeof knownColumns)[number]>

interface FoundSkill {
  readonly skill: KnownSkill
  readonly takenDown: boolean
}

/** A skill that an agent reports as installed. */
type InstalledItem = Input<'heartbeat'>['installedSkills'][number]

/** Why an agent should act on an installed skill. */
export type UpdateReason = (typeof updateReasons)[number]

export type VersionFault = 'dangerous' | 'recalled' | 'yanked' | 'drifted'

/** An installed item with the matching skill. */
export interface InstalledSkill extends FoundSkill {
  readonly item: InstalledItem
  /** The problem of the installed version, if it was published here. */
  readonly fault?: VersionFault | undefined
  /** The id of the recall that covers the installed version. */
  readonly recalledBy?: string | null | undefined
  /** A required skill of which no version in the range is offered any more. */
  readonly withdrawn?: { readonly fullName: string; readonly range: string } | undefined
}

/** An installed skill that the agent should act on. */
export interface UpdateFinding extends InstalledSkill {
  readonly reason: UpdateReason
}

const selectByFullName = compileListQuery((db, param: Param<{ names: Iterable<string> }>, lists) =>
  db
    .selectFrom('skills')
    .select([...skillColumns, 'skills.full_name as ref'])
    .where(lists.has('full_name', param('names'))),
)
const selectByHolder = compileListQuery((db, param: Param<{ names: Iterable<string> }>, lists) =>
  db
    .selectFrom('holders')
    .innerJoin('skills', 'skills.id', 'holders.skill_id')
    .select([...skillColumns, 'holders.name as ref'])
    .where(lists.has('holders.name', param('names'))),
)
const selectByAlias = compileListQuery((db, param: Param<{ names: Iterable<string> }>, lists) =>
  db
    .selectFrom('aliases')
    .innerJoin('skills', 'skills.id', 'aliases.skill_id')
    .select([...skillColumns, 'aliases.full_name as ref'])
    .where(lists.has('aliases.full_name', param('names'))),
)

/**
 * The skills with the given names that the caller may see, resolved as `findMovedSkill` does, with four queries at
 * most. `unseenIds`: existing skills that the caller may not see, which must not be revealed.
 */
export async function lookUpSkills(context: StorageContext, names: ReadonlySet<string>, caller: Caller) {
  const fullNames = toNamedFullNames(names, caller)
  const [named, holders] = await Promise.all([
    selectSkillsBy(context, selectByFullName, [...new Set(fullNames.values())]),
    selectSkillsBy(
      context,
      selectByHolder,
      [...names].filter((name) => !name.includes('/')),
    ),
  ])
  const missing = [...new Set(fullNames.values())].filter((name) => !named.has(name))
  const moved = await selectSkillsBy(context, selectByAlias, missing)

  const skills = [...named.values(), ...moved.values(), ...holders.values()]
  const sights = await readSights(context, skills, caller)
  const isSeen = (skill: KnownSkill | undefined) => skill !== undefined && sights.get(skill.id) !== 'unseen'
  const found = new Map<string, FoundSkill>()
  for (const name of names) {
    const fullName = fullNames.get(name) ?? ''
    const skill = [named.get(fullName), holders.get(name), moved.get(fullName)].find(isSeen)
    if (skill) found.set(name, { skill, takenDown: sights.get(skill.id) === 'taken_down' })
  }
  const unseenIds = skills.filter((skill) => !isSeen(skill)).map(({ id }) => id)
  return { found, unseenIds }
}

/** The full name that each name may mean: a short name means the caller's own skill first. */
function toNamedFullNames(names: ReadonlySet<string>, caller: Caller): Map<string, string> {
  const fullNames = new Map<string, string>()
  for (const name of names) {
    if (name.includes('/')) fullNames.set(name, name)
    else if (caller.kind === 'user') fullNames.set(name, `${caller.username}/${name}`)
  }
  return fullNames
}

type Select = typeof selectByFullName

async function selectSkillsBy({ database }: StorageContext, by: Select, names: readonly string[]) {
  const rows = names.length > 0 ? await by(database, { names }) : []
  return new Map(rows.map((row) => [row.ref, row]))
}

/** Whether an administrator flagged a skill. Scan verdicts are not considered. */
export function isFlagged(skill: Pick<KnownSkill, 'moderation'>): boolean {
  return skill.moderation === 'flagged'
}

/**
 * Whether a skill may be recommended or offered as a replacement: it is public, not deprecated or flagged, the scan of
 * its latest version and its score (which covers metadata) are `safe`, and no version is quarantined. The condition has
 * no parameters, so that compiled queries can contain it.
 */
export const offered = sql<SqlBool>`${listedCondition} and skills.deprecated = 0 and skills.moderation <> 'flagged'
  and skills.security_score >= ${sql.lit(safeScoreMin)}
  and exists (select 1 from versions join scans on scans.version_id = versions.id
    where versions.skill_id = skills.id and versions.version = skills.latest_version and scans.verdict = 'safe')
  and not exists (select 1 from quarantine_items where quarantine_items.full_name = skills.full_name)`

const selectOffered = compileListQuery(
  (db, param: Param<{ ids: Iterable<string>; userIds: Iterable<string> }>, lists) =>
    db
      .selectFrom('skills')
      .select(['id', 'full_name'])
      .where(lists.has('id', param('ids')))
      .where((eb) => eb.or([eb('forked_from', 'is', null), lists.lacks('owner_id', param('userIds'))]))
      .where(offered),
)

/** The full names, by id, of skills that may be offered to the given users, without the users' own forks. */
export async function keepOffered(
  { database }: StorageContext,
  skillIds: readonly string[],
  userIds: ReadonlySet<string>,
): Promise<Map<string, string>> {
  const rows = skillIds.length > 0 ? await selectOffered(database, { ids: skillIds, userIds }) : []
  return new Map(rows.map(({ id, full_name }) => [id, full_name]))
}

/** The agent and the caller of a heartbeat. The agent's own skills do not count as skills of similar agents. */
export interface Asker {
  readonly agent: AgentRow | undefined
  readonly stored: StoredSet
  readonly caller: Caller
  /** The caller's own users: their agents do not count as similar agents. */
  readonly userIds: ReadonlySet<string>
}

/** The stored version of each skill, by skill id. */
export type StoredSet = ReadonlyMap<string, Pick<AgentSkillRow, 'version' | 'counted'>>
