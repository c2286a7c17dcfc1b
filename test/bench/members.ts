import { localApi, systemCaller, type RegistryOptions } from '@skillstead/core'
import { importVersions, partsOf, type WriteTransaction } from '@skillstead/core/internal'
import { sql, type RawBuilder } from 'kysely'
import { openDatabase, openRegistry } from '../support/open-registry.ts'
import { startNode, type Child } from './children.ts'
import { fromRows, type Figure } from './figures.ts'
import { median } from './statistics.ts'
import { makeSkills } from './synthetic.ts'

const organisations = 1000
const members = 10_000
const skills = 50_000
const published = 500
const turns = 9
/** The most that a list of a member may cost, of a guest's. */
const most = 1.2

/**
 * Prints the processor time of a list of skills for a guest and for a member of two organisations, in alternating turns,
 * with the index in memory and without it. Of the skills a half is public, a tenth internal, and the others belong to
 * organisations or are private.
 */
export async function benchMembers(title: string, location: RegistryOptions, requests: number): Promise<Figure[]> {
  const key = await fill(location)
  const rows: Record<string, object> = {}
  for (const [index, memorySkillsMax] of [
    ['index in memory', skills * 2],
    ['in the database', 0],
  ] as const) {
    const node = await startNode({ ...location, works: false, answerBytesMax: 0, memorySkillsMax })
    await node.vitals('warm')
    const costs = { guest: [] as Cost[], member: [] as Cost[] }
    // The first turn compiles code and prepares statements.
    for (let turn = 0; turn <= turns; turn++) {
      for (const [who, headers] of [
        ['guest', {}],
        ['member', { authorization: `Bearer ${key}` }],
      ] as const) {
        const cost = await measure(node, headers, requests)
        if (turn > 0) costs[who].push(cost)
      }
    }
    await node.stop()
    const of = (who: keyof typeof costs, kind: keyof Cost) => median(costs[who].map((cost) => cost[kind]))
    const ratio = (kind: keyof Cost) => median(costs.member.map((cost, i) => cost[kind] / costs.guest[i]![kind]))
    rows[`a member's list, ${index}`] = {
      ratio: ratio('cpuMs').toFixed(2),
      'member CPU ms': of('member', 'cpuMs').toFixed(2),
      'guest CPU ms': of('guest', 'cpuMs').toFixed(2),
      'ratio of times': ratio('ms').toFixed(2),
      'member ms': of('member', 'ms').toFixed(2),
    }
  }
  console.log(`\nGET /skills on ${title}: ${organisations} organisations, ${members} members, ${skills} skills`)
  console.table(rows)
  return fromRows(`Lists of members, ${title}`, rows, { column: 'ratio', unit: 'of a guest' }).map((figure) => ({
    ...figure,
    most,
  }))
}

/** What a list takes: processor time of the node, without that of PostgreSQL, and the time until the answer. */
interface Cost {
  readonly cpuMs: number
  readonly ms: number
}

async function measure(node: Child, headers: Record<string, string>, requests: number): Promise<Cost> {
  const before = await node.vitals()
  const startedMs = performance.now()
  for (let i = 0; i < requests; i++) {
    const response = await fetch(`${node.url}/api/v1/skills?limit=20`, { headers })
    await response.arrayBuffer()
    if (!response.ok) throw new Error(`A list was answered with ${response.status}.`)
  }
  const ms = (performance.now() - startedMs) / requests
  const after = await node.vitals()
  return { cpuMs: (after.cpuMs - before.cpuMs) / requests, ms }
}

/** Publishes some skills, and copies rows for the others. Returns the key of a member. */
async function fill(location: RegistryOptions): Promise<string> {
  const registry = await openRegistry({ ...location, works: false, memorySkillsMax: 0 })
  const api = localApi(registry, systemCaller)
  const { key } = await api.createUser({ username: 'member' })
  for (const name of ['first', 'second']) await api.createOrganisation({ name, owner: 'member' })
  const versions = Array.from(makeSkills(published), ({ name, skillMd }) => ({
    owner: 'first',
    name,
    version: '1.0.0',
    skillMd,
    files: [],
  }))
  for (const { error } of await importVersions(partsOf(registry), versions, systemCaller)) if (error) throw error
  await registry.close()

  const database = await openDatabase(location)
  await database.writer.write(async (db) => {
    await copyRows(
      db,
      'users',
      organisations - 2,
      { id: suffixed('id'), username: suffixed('username') },
      isNamed('first'),
    )
    await copyRows(db, 'users', members - 1, { id: suffixed('id'), username: suffixed('username') }, isNamed('member'))
    const others = { user_id: suffixed('user_id'), organisation_id: sql`organisation_id || '-' || (n % 998 + 1)` }
    await copyRows(
      db,
      'members',
      members - 1,
      others,
      sql`organisation_id = (select id from users where ${isNamed('first')})`,
    )
    const times = skills / published - 1
    const ids = { id: suffixed('id'), num: sql`num + n * ${sql.lit(published)}` }
    await copyRows(db, 'skills', times, { ...ids, name: suffixed('name'), full_name: suffixed('full_name') })
    await copyRows(db, 'skill_documents', times, { skill_id: suffixed('skill_id') })
    await copyRows(db, 'versions', times, { id: suffixed('id'), skill_id: suffixed('skill_id') })
    await copyRows(db, 'version_terms', times, { version_id: suffixed('version_id') })
    // Each organisation has 50 skills of all visibilities.
    await sql`update skills set downloads = num % 997,
      owner_id = case num % ${sql.lit(organisations)} when 0 then owner_id
        when 1 then (select id from users where ${isNamed('second')})
        else owner_id || '-' || (num % ${sql.lit(organisations)} - 1) end,
      visibility = case when num / 1000 % 10 < 5 then 'public' when num / 1000 % 10 = 5 then 'internal'
        when num / 1000 % 10 < 9 then 'organisation' else 'private' end`.execute(db)
  })
  if (location.databaseUrl !== undefined) await sql`vacuum analyze`.execute(database.read)
  await database.close()
  return key
}

const isNamed = (name: string) => sql<boolean>`username = ${name}`
const suffixed = (column: string) => sql`${sql.ref(column)} || '-' || n`

/** Inserts so many copies of rows, each with its number `n` in the columns that must differ. */
async function copyRows(
  db: WriteTransaction,
  table: string,
  times: number,
  changed: Readonly<Record<string, RawBuilder<unknown>>>,
  isCopied = sql<boolean>`1 = 1`,
): Promise<void> {
  const tables = await db.introspection.getTables()
  const columns = tables.find(({ name }) => name === table)!.columns.map(({ name }) => name)
  const values = columns.map((name) => changed[name] ?? sql.ref(name))
  const names = columns.map((name) => sql.ref(name))
  await sql`with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${sql.lit(times)})
    insert into ${sql.table(table)} (${sql.join(names)})
    select ${sql.join(values)} from ${sql.table(table)}, numbers where ${isCopied}`.execute(db)
}
