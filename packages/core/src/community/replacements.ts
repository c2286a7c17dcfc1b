import type { StorageContext } from '../storage/storage-context.ts'
import { guest } from '../kernel/caller.ts'
import type { Param } from '../storage/compiled-query.ts'
import { compileListQuery } from '../storage/list-query.ts'
import {
  type UpdateFinding,
  keepOffered,
  lookUpSkills,
  offered,
  type UpdateReason,
  type Asker,
} from './look-up-installs.ts'

/** The maximum number of names in a deprecation message that are looked up. */
const namedMax = 5
/** `owner/name` in a text, but not as part of a URL or path. */
const fullNamePattern = /(?<![\w./-])[a-z0-9]+(?:-[a-z0-9]+)*\/[a-z0-9]+(?:-[a-z0-9]+)*(?![\w/-])/g

/** Reasons to replace a skill rather than update it. A yank or recall is such a reason only if there is no other version. */
const leaving: { [K in UpdateReason]?: true } = { taken_down: true, flagged: true, deprecated: true }
const withdrawing: { [K in UpdateReason]?: true } = { yanked: true, recalled: true }

/**
 * Replacements of skills, by id: the first skill that the owner names in the deprecation message, else the fork by a
 * verified author with the most agent installs. All replacements are public and their scans are safe; no user is sent
 * to a fork of their own.
 */
export async function findReplacements(
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

/** A fork stores the name that its source had when it was forked. */
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
