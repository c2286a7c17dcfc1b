import { limits, type Requires } from '@skillstead/protocol'
import { sql } from 'kysely'
import { type Caller, callerId } from '../../kernel/caller.ts'
import type { Param } from '../../storage/compiled-query.ts'
import { compileListQuery, isInList } from '../../storage/list-query.ts'
import type { StorageContext } from '../../storage/storage-context.ts'
import { readSights } from '../../visibility/decisions.ts'
import { isOffered } from '../versions/recalls.ts'
import { readStoredRequires, requiresMetadata } from '../versions/stored-requires.ts'

/** A skill that a resolution may choose. */
export interface Choosable {
  readonly id: string
  readonly fullName: string
  readonly owner: string
  /** The latest version; '' if there is none. */
  readonly latest: string
  /** All versions, highest first, including yanked and recalled versions. */
  readonly versions: readonly ChoosableVersion[]
}

export interface ChoosableVersion {
  readonly version: string
  readonly digest: string
  readonly isOffered: boolean
  readonly requires: Requires
}

/** Maximum number of names per query, so that each query reads few rows. */
const namesPerQuery = 200

/**
 * Maps names to the skills that they mean, without skills that the caller may not see. A name without an owner occurs
 * only in requests: it means the caller's own skill, else the holder of the short name.
 */
export async function lookUpWanted(context: StorageContext, names: readonly string[], caller: Caller) {
  const found = new Map<string, Choosable>()
  for (let i = 0; i < names.length; i += namesPerQuery)
    await lookUpSome(context, names.slice(i, i + namesPerQuery), caller, found)
  return found
}

async function lookUpSome(
  context: StorageContext,
  names: readonly string[],
  caller: Caller,
  found: Map<string, Choosable>,
): Promise<void> {
  const { database } = context
  const ownNames = names.map((name) => toOwnName(name, caller))
  const rows = await selectSkills(database, {
    fullNames: new Set(ownNames.filter((name) => name !== undefined)),
    shortNames: new Set(names.filter((name) => !name.includes('/'))),
  })
  const sights = await readSights(context, rows, caller)
  const seen = rows.filter(({ id }) => sights.get(id) === 'seen')
  const byRef = new Map<string, (typeof rows)[number]>()
  // A full name from before a transfer counts only if no other skill has the name.
  for (const row of rows)
    if (row.kind !== 'moved' || !byRef.has(`named ${row.ref}`)) byRef.set(`${row.kind} ${row.ref}`, row)
  const skills = await readChoosable(context, seen)
  for (const [i, name] of names.entries()) {
    const own = byRef.get(`named ${ownNames[i]}`) ?? byRef.get(`moved ${ownNames[i]}`)
    const skill = (own && skills.get(own.id)) ?? skills.get(byRef.get(`holder ${name}`)?.id ?? '')
    if (skill) found.set(name, skill)
  }
}

/**
 * The names that the latest versions of skills require, directly and through other skills, at most as many as a
 * resolution may have. The result may contain names of skills that the caller may not see.
 */
export async function listReached({ database }: StorageContext, skillIds: ReadonlySet<string>): Promise<string[]> {
  if (skillIds.size === 0) return []
  const { dialect, read } = database
  const count = sql.lit(limits.resolveSkillsMax)
  // The limit ends the recursion on SQLite, which blocks this process; PostgreSQL works in another process.
  const bound = dialect === 'sqlite' ? sql`limit ${count}` : sql``
  const { rows } = await sql<{ name: string }>`with recursive reached (id) as (
      select id from skills where ${isInList(dialect, 'id', skillIds)}
      union
      select named.id from reached
        join requirements on requirements.skill_id = reached.id
        join skills as named on named.full_name = requirements.name ${bound})
    select distinct requirements.name from reached
      join requirements on requirements.skill_id = reached.id limit ${count}`.execute(read)
  return rows.map(({ name }) => name)
}

function toOwnName(name: string, caller: Caller): string | undefined {
  if (name.includes('/')) return name
  return callerId(caller) !== null && caller.kind === 'user' ? `${caller.username}/${name}` : undefined
}

async function readChoosable({ database }: StorageContext, rows: readonly FoundRow[]): Promise<Map<string, Choosable>> {
  const skills = new Map<string, Choosable & { versions: ChoosableVersion[] }>()
  for (const { id, full_name, owner, latest_version } of rows)
    skills.set(id, { id, fullName: full_name, owner, latest: latest_version, versions: [] })
  if (skills.size === 0) return skills
  for (const row of await selectVersions(database, { ids: skills.keys() })) {
    skills.get(row.skill_id)!.versions.push({
      version: row.version,
      digest: row.digest,
      isOffered: isOffered(row),
      requires: readStoredRequires(row),
    })
  }
  return skills
}

type FoundRow = Awaited<ReturnType<typeof selectSkills>>[number]

const columns = ['id', 'full_name', 'owner', 'owner_id', 'visibility', 'state', 'latest_version'] as const
const skillColumns = columns.map((column) => `skills.${column}` as const)

const selectSkills = compileListQuery(
  (db, param: Param<{ fullNames: Iterable<string>; shortNames: Iterable<string> }>, lists) =>
    db
      .selectFrom('skills')
      .select([...skillColumns, 'skills.full_name as ref', sql.lit<'named' | 'holder' | 'moved'>('named').as('kind')])
      .where(lists.has('skills.full_name', param('fullNames')))
      .unionAll(
        db
          .selectFrom('holders')
          .innerJoin('skills', 'skills.id', 'holders.skill_id')
          .select([...skillColumns, 'holders.name as ref', sql.lit<'named' | 'holder' | 'moved'>('holder').as('kind')])
          .where(lists.has('holders.name', param('shortNames'))),
      )
      .unionAll(
        db
          .selectFrom('aliases')
          .innerJoin('skills', 'skills.id', 'aliases.skill_id')
          .select([
            ...skillColumns,
            'aliases.full_name as ref',
            sql.lit<'named' | 'holder' | 'moved'>('moved').as('kind'),
          ])
          .where(lists.has('aliases.full_name', param('fullNames'))),
      ),
)

const selectVersions = compileListQuery((db, param: Param<{ ids: Iterable<string> }>, lists) =>
  db
    .selectFrom('versions')
    .select(['skill_id', 'version', 'digest', 'yanked', 'recalled_by', 'requires'])
    .select(requiresMetadata.as('metadata'))
    .where(lists.has('skill_id', param('ids')))
    .orderBy('sort_key', 'desc'),
)
