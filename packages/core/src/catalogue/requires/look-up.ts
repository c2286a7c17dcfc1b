import { limits, type Requires } from '@skillstead/protocol'
import { sql } from 'kysely'
import { type Caller, callerId } from '../../kernel/caller.ts'
import type { Param } from '../../storage/compiled-query.ts'
import { compileListQuery, isInList } from '../../storage/list-query.ts'
import type { StorageContext } from '../../storage/storage-context.ts'
import { readSights } from '../../visibility/decisions.ts'
import { isOffered } from '../versions/recalls.ts'
import { readStoredRequires } from '../versions/stored-requires.ts'

/** A name to look up: in the request (`owner` undefined), or required by a skill of an owner. */
export interface Wanted {
  readonly name: string
  readonly owner: string | undefined
}

/** A skill that a resolution may choose. */
export interface Choosable {
  readonly id: string
  readonly fullName: string
  readonly owner: string
  /** '' if there is none. */
  readonly latest: string
  /** Highest first, withdrawn ones included. */
  readonly versions: readonly ChoosableVersion[]
}

export interface ChoosableVersion {
  readonly version: string
  readonly digest: string
  readonly isOffered: boolean
  /** Milliseconds since 1970. */
  readonly publishedAt: number
  readonly requires: Requires
}

/** The skill that a name means. */
export interface Meant {
  readonly skill: Choosable
  /**
   * When the skill was first published, in milliseconds since 1970, if a name without an owner means it because it holds
   * the name: a skill that was published before cannot mean it.
   */
  readonly heldSince?: number
}

/** The key of a name in the result of {@link lookUpWanted}. */
export function toWantedKey({ name, owner }: Wanted): string {
  return name.includes('/') ? name : `${owner ?? ''} ${name}`
}

/** Names per query, so that no query reads more than its rows. */
const namesPerQuery = 200

/**
 * The skills that names mean, as far as the caller may see them, by {@link toWantedKey}. A name without an owner means,
 * in a request, the caller's own skill, and in the requirements of a skill another skill of the same owner; else the
 * holder of the short name. Another user's skill never takes the place of an owner's own skill that the caller may not see.
 */
export async function lookUpWanted(context: StorageContext, wanted: readonly Wanted[], caller: Caller) {
  const found = new Map<string, Meant>()
  for (let i = 0; i < wanted.length; i += namesPerQuery)
    await lookUpSome(context, wanted.slice(i, i + namesPerQuery), caller, found)
  return found
}

async function lookUpSome(
  context: StorageContext,
  wanted: readonly Wanted[],
  caller: Caller,
  found: Map<string, Meant>,
): Promise<void> {
  const { database } = context
  const ownNames = wanted.map((one) => toOwnName(one, caller))
  const rows = await selectSkills(database, {
    fullNames: new Set(ownNames.filter((name) => name !== undefined)),
    shortNames: new Set(wanted.map(({ name }) => name).filter((name) => !name.includes('/'))),
  })
  const sights = await readSights(context, rows, caller)
  const byRef = new Map<string, (typeof rows)[number]>()
  // A full name from before a transfer counts only if no other skill has the name.
  for (const row of rows)
    if (row.kind !== 'moved' || !byRef.has(`named ${row.ref}`)) byRef.set(`${row.kind} ${row.ref}`, row)
  const isSeen = ({ id }: { id: string }) => sights.get(id) === 'seen'
  const seenIds = new Set(rows.filter(isSeen).map(({ id }) => id))
  const skills = await readChoosable(
    context,
    rows.filter(({ id }) => seenIds.has(id)),
  )
  for (const [i, one] of wanted.entries()) {
    const ownName = ownNames[i]
    const own = byRef.get(`named ${ownName}`) ?? byRef.get(`moved ${ownName}`)
    const holder = one.name.includes('/') ? undefined : byRef.get(`holder ${one.name}`)
    const isOwnMeant = own !== undefined && (isSeen(own) || one.owner !== undefined)
    const meant = isOwnMeant ? own : holder
    if (!meant || !seenIds.has(meant.id)) continue
    const skill = skills.get(meant.id)!
    found.set(
      toWantedKey(one),
      isOwnMeant || one.owner === undefined ? { skill } : { skill, heldSince: toFirst(skill) },
    )
  }
}

/**
 * The names that the latest versions of skills require, directly and through others, as far as a resolution may go.
 * These are what a look-up may need, not yet what the caller may see.
 */
export async function listReached({ database }: StorageContext, skillIds: ReadonlySet<string>): Promise<Wanted[]> {
  if (skillIds.size === 0) return []
  const { dialect, read } = database
  const count = sql.lit(limits.resolveSkillsMax)
  // SQLite stops there; PostgreSQL works in another process.
  const bound = dialect === 'sqlite' ? sql`limit ${count}` : sql``
  const { rows } = await sql<{ owner: string; name: string }>`with recursive reached (id) as (
      select id from skills where ${isInList(dialect, 'id', skillIds)}
      union
      select coalesce(named.id, holders.skill_id) from reached
        join requirements on requirements.skill_id = reached.id
        join skills on skills.id = reached.id
        left join skills as named on named.full_name =
          case when requirements.name like '%/%' then requirements.name else skills.owner || '/' || requirements.name end
        left join holders on holders.name = requirements.name
        where coalesce(named.id, holders.skill_id) is not null ${bound})
    select owner, requirements.name from reached
      join requirements on requirements.skill_id = reached.id
      join skills on skills.id = reached.id limit ${sql.lit(limits.resolveSkillsMax * 10)}`.execute(read)
  const distinct = new Map(rows.map((row) => [toWantedKey(row), row]))
  return [...distinct.values()].slice(0, limits.resolveSkillsMax)
}

function toFirst({ versions }: Choosable): number {
  return Math.min(...versions.map(({ publishedAt }) => publishedAt))
}

function toOwnName({ name, owner }: Wanted, caller: Caller): string | undefined {
  if (name.includes('/')) return name
  if (owner !== undefined) return `${owner}/${name}`
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
      publishedAt: row.published_at,
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

/** The metadata only of versions that were stored before the column existed. */
const selectVersions = compileListQuery((db, param: Param<{ ids: Iterable<string> }>, lists) =>
  db
    .selectFrom('versions')
    .select(['skill_id', 'version', 'digest', 'yanked', 'recalled_by', 'published_at', 'requires'])
    .select((eb) => eb.case().when('requires', 'is', null).then(eb.ref('metadata')).else(null).end().as('metadata'))
    .where(lists.has('skill_id', param('ids')))
    .orderBy('sort_key', 'desc'),
)
