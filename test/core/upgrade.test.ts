import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { localApi, type Registry } from '@skillstead/core'
import { partsOf, countUnscanned } from '@skillstead/core/internal'
import { checkRegistry } from '@skillstead/maintenance'
import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { listSteps } from '../../packages/core/src/storage/migrate.ts'
import { openPostgres } from '../../packages/core/src/storage/postgres.ts'
import { openSqlite } from '../../packages/core/src/storage/sqlite/sqlite.ts'
import { skillMd } from '../support/answers.ts'
import { readOrganisation } from '../fixtures/schemas/organisations.ts'
import {
  listSchemaFiles,
  loadSchema,
  readSchemaFile,
  type Row,
  type SchemaFile,
  toSchemaName,
} from '../fixtures/schemas/schema-file.ts'
import { describeDatabases, listInTurn } from '../support/harness.ts'
import { makeEmptyPlace, type DialectName, type Location } from '../support/places.ts'
import { recordStatements } from '../support/sent-statements.ts'
import { extensions, openDatabase, openRegistry } from '../support/open-registry.ts'

const stepNames = listSteps(extensions).map(({ name }) => name)
const makeFixture = 'Run `node --conditions=source test/fixtures/schemas/make.ts` after a step of the schema is added.'

it('a database made by an earlier program exists for every schema version', () => {
  const baselines = 1 + extensions.length
  const added = stepNames.length - baselines
  const schemas = Array.from({ length: added + 1 }, (_, i) => toSchemaName(baselines + i))
  expect(listSchemaFiles(), makeFixture).toEqual(schemas)
  expect(readSchemaFile(schemas.at(-1)!).expected.organisation).toBeDefined()
})

describeDatabases('a database that the program opens', (_open, dialect) => {
  /** What the migrations make of an empty database, by schema. */
  const made = new Map<string, unknown[]>()
  beforeAll(async () => {
    const place = await makeEmptyPlace(dialect)
    const applied = new Set<string>()
    for (const schema of listSchemaFiles()) {
      const rows = readSchemaFile(schema).tables['migrations']!.filter(({ name }) => !applied.has(String(name)))
      await migrateTo(place.location, rows)
      for (const { name } of rows) applied.add(String(name))
      made.set(schema, await describeSchema(place.location, dialect))
    }
    await place.remove()
  })

  const [oldest, ...later] = listSchemaFiles() as [string, ...string[]]
  const newest = later.at(-1)!

  it.each([oldest, ...listInTurn(later.slice(0, -1), dialect), newest])(
    'with schema version %s has the schema that its migrations create, and keeps its data when upgraded',
    async (schema) => {
      const { location, file } = await load(schema, dialect)
      expect(await describeSchema(location, dialect)).toEqual(made.get(schema))
      const registry = await open(location)
      const guest = localApi(registry)
      for (const { fullName, latestVersion, digest } of file.expected.skills) {
        expect(await guest.getSkill({ name: fullName })).toMatchObject({ latestVersion, digest })
        expect((await guest.getSkillMd({ name: fullName })).body).toBeDefined()
      }
      expect((await guest.searchSkills({ q: 'tool' })).total).toBeGreaterThanOrEqual(3)
      for (const [username, key] of Object.entries(file.expected.keys)) {
        expect(await registry.authenticate(key)).toMatchObject({ username })
      }
      const ratings = (await guest.listAgentReviews({ name: 'alice/tool' })).reviews.map(({ rating }) => rating)
      expect(ratings).toEqual(file.tables['agent_reviews']!.map((row) => row['rating']))
      const entries = await partsOf(registry)
        .database.read.selectFrom('log')
        .select(['seq', 'entry'])
        .orderBy('seq')
        .execute()
      expect(entries.slice(0, file.expected.entries)).toEqual(toEntries(file.tables['log']!))
      if (file.expected.organisation) await expectOrganisation(registry, file)
      await publishMore(registry, file.expected.keys['alice']!)
      // Data that releases of that time did not compute is computed by a running node.
      await expect.poll(() => isCaughtUp(registry)).toBe(true)
      const wrong = (await checkRegistry(registry, { deep: true })).filter(({ ok }) => !ok)
      expect(wrong).toEqual([])
    },
  )

  it('of an earlier release keeps its open sessions', async () => {
    const { location, file } = await load('0012', dialect)
    const [token, id] = ['sss_open', createHash('sha256').update('sss_open').digest('hex')]
    await run(location, `insert into sessions select '${id}', id, 1, 9000000000000000 from api_keys limit 1`)
    const registry = await open(location)
    expect(Object.keys(file.expected.keys)).toContain((await registry.authenticateSession(token)).username)
  })

  it('is migrated only once if two processes open the database at once', async () => {
    const { location, file } = await load(oldest, dialect)
    const both = await Promise.all([openDatabase(location), openDatabase(location)])
    const { rows } = await sql<{ name: string }>`select name from migrations order by position`.execute(both[0].read)
    for (const database of both) await database.close()
    // A step of core that was added later runs after the steps of extensions that the database already has.
    expect(rows.map(({ name }) => name).toSorted()).toEqual(stepNames.toSorted())
    const registry = await open(location)
    expect((await localApi(registry).searchSkills({})).total).toBe(file.expected.skills.length)
  })

  it('is unchanged if a migration step fails, and is migrated when the step succeeds later', async () => {
    const { location } = await makeEmpty(dialect)
    // The step that makes the tables cannot: a view has the name of one.
    await run(location, 'create view signing_keys as select 1 as stranger')
    const before = await describeSchema(location, dialect)
    await expect(openDatabase(location)).rejects.toThrow(/already exists/)
    expect(await describeSchema(location, dialect)).toEqual(before)
    await run(location, 'drop view signing_keys')
    const registry = await open(location)
    expect((await localApi(registry).getCheckpoint()).body).toBeDefined()
  })

  it('is migrated by the next process if a process is killed during the migration', async () => {
    const { location } = await makeEmpty(dialect)
    await killHalfWay(location)
    expect(await describeSchema(location, dialect)).toEqual([])
    const registry = await open(location)
    expect((await checkRegistry(registry, { deep: true })).filter(({ ok }) => !ok)).toEqual([])
  })

  it('of this release is opened with one statement about its migrations, which takes no lock', async () => {
    const { location } = await makeEmpty(dialect)
    await (await openRegistry(location)).close()
    const sent = recordStatements()
    await open(location)
    const texts = sent.map(({ text }) => text)
    expect(texts.filter((text) => /migrations|advisory|create table/.test(text))).toEqual([
      expect.stringMatching(/^select name from migrations/),
    ])
    const first = texts.findIndex((text) => !/^pragma/i.test(text))
    expect(texts[first]).toContain('migrations')
  })

  it.runIf(dialect === 'PostgreSQL')('is not confused with a table of another program in the search path', async () => {
    for (const columns of ['id integer, migration text', 'name text, position integer']) {
      const { location } = await makeEmpty(dialect)
      await run(location, `create table migrations (${columns})`)
      if (columns.startsWith('name')) await run(location, "insert into migrations values ('another program', 1)")
      await run(location, 'create schema own')
      const url = new URL(location.databaseUrl!)
      url.searchParams.set('options', '-c search_path=own,public')
      const registry = await open({ databaseUrl: url.href })
      const { rows } = await sql`select name from own.migrations`.execute(partsOf(registry).database.read)
      expect(rows.length).toBe(stepNames.length)
      await (await openRegistry({ databaseUrl: url.href })).close()
    }
  })

  it('of a development version is refused without changes', async () => {
    const { location } = await makeEmpty(dialect)
    await run(location, 'create table migrations (name text primary key, position integer not null)')
    await run(location, "insert into migrations (name, position) values ('0001-foundation', 0), ('0002-community', 1)")
    const before = await describeSchema(location, dialect)
    await expect(openRegistry(location)).rejects.toThrow(
      'The database was made by a development version from before the first release (its schema starts with 0001-foundation).',
    )
    expect(await describeSchema(location, dialect)).toEqual(before)
  })

  it('of a newer release is refused without changes', async () => {
    const { location } = await load(oldest, dialect)
    await run(location, "insert into migrations (name, position) values ('9999-from-the-future', 9999)")
    const hash = () => (dialect === 'SQLite' ? hashFile(location.path!) : describeSchema(location, dialect))
    const before = await hash()
    await expect(openRegistry(location)).rejects.toThrow('made by a newer Skillstead (it has 9999-from-the-future)')
    expect(await hash()).toEqual(before)
  })
})

async function makeEmpty(dialect: DialectName) {
  const place = await makeEmptyPlace(dialect)
  onTestFinished(place.remove)
  return place
}

async function load(schema: string, dialect: DialectName) {
  const { location } = await makeEmpty(dialect)
  const file = readSchemaFile(schema)
  await loadSchema(file, dialect, location)
  return { location, file }
}

async function open(location: Location): Promise<Registry> {
  const registry = await openRegistry({ ...location, outgoing: { offline: true } })
  onTestFinished(() => registry.close())
  return registry
}

function toEntries(rows: readonly Readonly<Record<string, unknown>>[]) {
  return rows.map(({ seq, entry }) => ({ seq, entry })).toSorted((a, b) => Number(a.seq) - Number(b.seq))
}

async function publishMore(registry: Registry, key: string): Promise<void> {
  const alice = localApi(registry, await registry.authenticate(key))
  const { created } = await alice.publishSkill({ skillMd: skillMd('tool', { body: 'Another day.' }), version: '9.0.0' })
  expect(created).toBe(true)
  expect((await localApi(registry).getSkill({ name: 'alice/tool' })).latestVersion).toBe('9.0.0')
}

/** Members, teams, rules, waiting versions, trusted CI jobs, keys and sessions are there, and work. */
async function expectOrganisation(registry: Registry, { expected, tables }: SchemaFile): Promise<void> {
  expect(expected.organisation!['waiting for alice']).toHaveLength(2)
  expect(await readOrganisation(registry)).toMatchObject(expected.organisation!)
  const { read } = partsOf(registry).database
  for (const table of ['sessions', 'identities', 'used_states', 'members', 'team_members', 'policies'] as const) {
    const stored = await read.selectFrom(table).selectAll().execute()
    expect(stored, table).toHaveLength(tables[table]!.length)
    expect(tables[table]!.length, table).toBeGreaterThan(0)
  }
  await decideWaiting(registry)
}

/** The second approval publishes what waited before the upgrade; the author still may not approve. */
async function decideWaiting(registry: Registry): Promise<void> {
  const [alice, carol] = await Promise.all(
    ['alice', 'carol'].map(async (username) => localApi(registry, await registry.getCaller(username))),
  )
  const { quarantined } = await alice!.listQuarantined({})
  const { id } = quarantined.find(({ fullName }) => fullName === 'acme/posts')!
  await expect(carol!.reviewQuarantined({ id, verdict: 'approved' })).rejects.toThrow('You submitted this version')
  expect(await alice!.reviewQuarantined({ id, verdict: 'approved' })).toMatchObject({ created: true })
  expect((await localApi(registry).getSkill({ name: 'acme/posts' })).latestVersion).toBe('1.0.1')
}

async function isCaughtUp(registry: Registry): Promise<boolean> {
  const { read } = partsOf(registry).database
  const keys = ['copies.sketched', 'texts.indexed']
  const waiting = await read.selectFrom('meta').select('key').where('key', 'in', keys).execute()
  const judging = await read
    .selectFrom('outbox')
    .select('id')
    .where('state', '=', 'pending')
    .where('topic', 'in', ['copies.sketch', 'search.texts', 'security.rescan', 'verification.skills'])
    .execute()
  return waiting.length + judging.length + (await countUnscanned(partsOf(registry))) === 0
}

async function run({ path, databaseUrl }: Location, statement: string): Promise<void> {
  const connections = path === undefined ? openPostgres(databaseUrl!) : openSqlite(path)
  try {
    await sql.raw(statement).execute(connections.main)
  } finally {
    await connections.close()
  }
}

/** Runs migrations of a stored database. */
async function migrateTo({ path, databaseUrl }: Location, applied: readonly Row[]): Promise<void> {
  const connections = path === undefined ? openPostgres(databaseUrl!) : openSqlite(path)
  const steps = listSteps(extensions)
  try {
    await sql`create table if not exists migrations (name text primary key, position integer not null)`.execute(
      connections.main,
    )
    for (const { name } of applied.toSorted((a, b) => Number(a['position']) - Number(b['position']))) {
      await steps.find((step) => step.name === name)!.up(connections.main, path === undefined ? 'postgres' : 'sqlite')
    }
  } finally {
    await connections.close()
  }
}

/** Every table with its columns, constraints and indexes. */
async function describeSchema({ path, databaseUrl }: Location, dialect: DialectName): Promise<unknown[]> {
  const connections = path === undefined ? openPostgres(databaseUrl!) : openSqlite(path)
  try {
    const columns =
      dialect === 'SQLite'
        ? sql`select name, sql from sqlite_schema order by name`
        : sql`select table_name as name, concat_ws(' ', column_name, data_type, collation_name, is_nullable, column_default) as sql
            from information_schema.columns where table_schema = 'public'
            union all select conrelid::regclass::text, pg_get_constraintdef(oid)
            from pg_constraint where connamespace = 'public'::regnamespace
            union all select indexname, indexdef from pg_indexes where schemaname = 'public' order by 1, 2`
    return (await columns.execute(connections.main)).rows
  } finally {
    await connections.close()
  }
}

function hashFile(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}

/** A program that is killed while it makes the schema. */
async function killHalfWay({ path, databaseUrl }: Location): Promise<void> {
  const child = fileURLToPath(new URL('../fixtures/schemas/half-way-child.ts', import.meta.url))
  const args = ['--conditions=source', child, path ?? databaseUrl!]
  const started = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise((resolve) => started.once('exit', (_code, signal) => resolve(signal)))
  expect(await ended).toBe('SIGKILL')
}
