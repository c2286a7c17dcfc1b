import { verifyCheckpoint } from '@skillstead/client/verify'
import { localApi, type Registry, type RegistryOptions, systemCaller } from '@skillstead/core'
import {
  beginIdempotent,
  finishIdempotent,
  partsOf,
  readSignedCheckpoint,
  rotateKey,
  toRegistryError,
} from '@skillstead/core/internal'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { codeOf } from '../support/answers.ts'
import { makePlace, type Place } from '../support/places.ts'
import { openDatabase, openRegistry } from '../support/open-registry.ts'

/** A poll interval that never ends during a test. */
const never = 3_600_000
const isMissing = inject('postgresUrl') === null

const publish = async (node: Registry, name: string) =>
  localApi(node, await node.getCaller('ada')).publishSkill({ skillMd: toSkillMd(name) })
const read = (node: Registry, name: string) => localApi(node).getSkill({ name })
const hears = (node: Registry) => expect.poll(() => partsOf(node).changes.isNoticed, { interval: 20 }).toBe(true)

describe.skipIf(isMissing)('a node among several on one PostgreSQL', () => {
  let place: Place
  let a: Registry
  let b: Registry
  beforeAll(async () => {
    place = await makePlace('PostgreSQL')
    // Both at once: neither finds a schema, an identity or a key.
    ;[a, b] = await Promise.all([openNode({ pollMs: never }), openNode({ pollMs: never })])
    await localApi(a, systemCaller).createUser({ username: 'ada' })
  })
  afterAll(async () => {
    await Promise.all([a?.close(), b?.close()])
    await place?.remove()
  })

  const openNode = (options: Partial<RegistryOptions> = {}) => openRegistry({ ...place.location, ...options })

  it('shows at once what another node published: in details, in search and in a waiting feed request', async () => {
    await Promise.all([hears(a), hears(b)])
    await publish(a, 'heron')
    await expect.poll(() => partsOf(b).changes.position, { interval: 5 }).toBe(partsOf(a).changes.position)
    const { head } = await localApi(b).getFeed({})
    const feed = localApi(b).getFeed({ since: head, wait: 30 })
    await localApi(a, await a.getCaller('ada')).starSkill({ name: 'heron' })
    await expect.poll(async () => (await read(b, 'heron')).stars, { interval: 5 }).toBe(1)
    await publish(a, 'bittern')
    expect((await feed).entries.map(({ subject }) => subject)).toEqual(['ada/bittern@1.0.0'])
    await expect
      .poll(async () => (await localApi(b).searchSkills({ q: 'bittern' })).skills.map(({ name }) => name))
      .toEqual(['bittern'])
  })

  it('polls the database for changes when no notification arrives', async () => {
    const c = await openNode({ pollMs: 100 })
    onTestFinished(() => c.close())
    await hears(c)
    await runSql('alter table changes disable trigger tell_changes')
    await publish(a, 'plover')
    await expect.poll(() => partsOf(c).changes.position).toBe(partsOf(a).changes.position)
    expect((await read(c, 'plover')).name).toBe('plover')
    expect(partsOf(b).changes.position).toBeLessThan(partsOf(a).changes.position)
    await runSql('alter table changes enable trigger tell_changes')
  })

  it('reconnects after a connection failure and catches up on missed changes', async () => {
    const value = async () => (await b.metrics()).find(({ name }) => name === 'skillstead_changes_noticed')?.value
    await hears(b)
    expect(await value()).toBe(1)
    await letIn(false)
    await runSql(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where query like 'listen %' and datname = '${databaseName()}'`,
      `${inject('postgresUrl')}postgres`,
    )
    await expect.poll(value).toBe(0)
    await publish(a, 'knot')
    expect(partsOf(b).changes.position).toBeLessThan(partsOf(a).changes.position)
    await letIn(true)
    await expect.poll(() => partsOf(b).changes.position).toBe(partsOf(a).changes.position)
    expect(await value()).toBe(1)
    expect((await read(b, 'knot')).name).toBe('knot')
  })

  it('misses no change when several nodes append changes concurrently', async () => {
    const seen: number[] = []
    const begin = () => void seen.splice(0)
    partsOf(b).changes.follow((batch) => void seen.push(...batch.map(({ seq }) => seq)), begin)
    await hears(b)
    const from = partsOf(b).changes.position
    const nodes = [a, b, await openNode(), await openNode()]
    onTestFinished(async () => void (await Promise.all(nodes.slice(2).map((node) => node.close()))))
    await Promise.all(
      nodes.flatMap((node, i) => Array.from({ length: 20 }, (_, k) => publish(node, `wader-${i}-${k}`))),
    )
    await Promise.all(nodes.map((node) => partsOf(node).changes.catchUp()))
    const positions = new Set(nodes.map((node) => partsOf(node).changes.position))
    expect(positions.size).toBe(1)
    const distinct = [...new Set(seen)].filter((seq) => seq > from)
    expect(distinct).toEqual(Array.from({ length: partsOf(b).changes.position - from }, (_, i) => from + 1 + i))
  })

  it.each([
    ['and none came since', 100],
    ['and others came since', never],
  ])('drops its caches if it missed changes that are deleted, %s', async (_, pollMs) => {
    const own = await makePlace('PostgreSQL')
    const [one, two] = [await openRegistry(own.location), await openRegistry({ ...own.location, pollMs })]
    onTestFinished(async () => {
      await Promise.all([one.close(), two.close()])
      await own.remove()
    })
    await localApi(one, systemCaller).createUser({ username: 'ada' })
    await Promise.all([hears(two), partsOf(two).search.warmed, publish(one, 'ruff')])
    await expect.poll(async () => (await localApi(two).searchSkills({ q: 'ruff' })).total).toBe(1)
    expect((await read(two, 'ruff')).name).toBe('ruff')
    // The state after the changes were deleted: the head has advanced, and no row explains why.
    await runSql(
      `update skills set visibility = 'private'; update heads set change_seq = change_seq + 3`,
      own.location.databaseUrl!,
    )
    if (pollMs === never) await publish(one, 'dunlin')
    await expect.poll(() => codeOf(read(two, 'ruff'))).toBe('not_found')
    await partsOf(two).search.warmed
    expect(partsOf(two).search.warm).toBe(true)
    const { skills } = await localApi(two).searchSkills({})
    expect(skills.map(({ name }) => name)).toEqual(pollMs === never ? ['dunlin'] : [])
  })

  it('can write soon after another node pauses during a write, because the lock of the paused node expires', async () => {
    const c = await openNode({ works: false })
    const [begun, resumed] = [Promise.withResolvers<unknown>(), Promise.withResolvers<void>()]
    onTestFinished(async () => {
      resumed.resolve()
      await c.close()
    })
    const paused = partsOf(c).database.writer.write(async (trx) => {
      begun.resolve((await sql`show idle_in_transaction_session_timeout`.execute(trx)).rows)
      // Shortened, so that the test need not wait for the real timeout.
      await sql`set local idle_in_transaction_session_timeout = 300`.execute(trx)
      await resumed.promise
      await sql`select 1`.execute(trx)
    })
    const outcome = paused.catch(toRegistryError)
    expect(await begun.promise).toEqual([{ idle_in_transaction_session_timeout: '30s' }])
    await publish(a, 'stint')
    resumed.resolve()
    expect(await outcome).toMatchObject({ code: 'overloaded' })
    expect(await partsOf(c).database.writer.write(async () => 'well')).toBe('well')
  })

  it('runs a request only once if two nodes get it concurrently with the same Idempotency-Key', async () => {
    const caller = await a.getCaller('ada')
    const begun = await Promise.allSettled(
      [a, b].map((node) => beginIdempotent(partsOf(node), caller, 'one-key', 'hash')),
    )
    expect(begun.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    const claim = begun.flatMap((one) =>
      one.status === 'fulfilled' && one.value.state === 'new' ? [one.value] : [],
    )[0]!
    await finishIdempotent(partsOf(a), caller, 'one-key', claim, { status: 201, body: '{}' })
    expect(await beginIdempotent(partsOf(b), caller, 'one-key', 'hash')).toMatchObject({ state: 'done', status: 201 })
  })

  it('refuses an API key that another node revoked, and signs with the key that another node created', async () => {
    const ada = localApi(a, await a.getCaller('ada'))
    const { id, key } = await ada.createApiKey({ name: 'lent' })
    expect(await b.authenticate(key)).toMatchObject({ username: 'ada' })
    await ada.deleteApiKey({ id })
    expect(await codeOf(b.authenticate(key))).toBe('unauthorized')
    const [{ vkey } = { vkey: '' }] = await rotateKey(partsOf(a), { overlapMs: 0 })
    const { text } = await readSignedCheckpoint(partsOf(b))
    expect(verifyCheckpoint(text, [vkey]).origin).toBe(partsOf(a).origin)
  })

  it('accepts the setup code that another node printed', async () => {
    const empty = await makePlace('PostgreSQL')
    const [one, two] = await Promise.all([openRegistry(empty.location), openRegistry(empty.location)])
    onTestFinished(async () => {
      await Promise.all([one.close(), two.close()])
      await empty.remove()
    })
    expect(partsOf(one).setup.code).not.toBe(partsOf(two).setup.code)
    const { user } = await localApi(two).setUp({ code: partsOf(one).setup.code.toLowerCase(), username: 'bob' })
    expect(user.role).toBe('admin')
  })

  it('initialises an empty database once when several nodes start at the same time', async () => {
    const name = `fresh_${Date.now()}`
    const server = inject('postgresUrl')!
    const client = new pg.Client({ connectionString: `${server}postgres` })
    await client.connect()
    await client.query(`create database ${name}`)
    onTestFinished(async () => {
      await client.query(`drop database ${name} with (force)`)
      await client.end()
    })
    const opened = await Promise.all(Array.from({ length: 4 }, () => openDatabase({ databaseUrl: server + name })))
    for (const { read: db } of opened) expect(await db.selectFrom('heads').selectAll().execute()).toHaveLength(1)
    await Promise.all(opened.map((database) => database.close()))
  })

  const databaseName = () => new URL(place.location.databaseUrl!).pathname.slice(1)

  /** Whether new connections are accepted; existing ones stay. */
  const letIn = (isOpen: boolean) =>
    runSql(`alter database ${databaseName()} with allow_connections ${isOpen}`, `${inject('postgresUrl')}postgres`)

  async function runSql(text: string, connectionString = place.location.databaseUrl!): Promise<void> {
    const client = new pg.Client({ connectionString })
    await client.connect()
    await client.query(text)
    await client.end()
  }
})

function toSkillMd(name: string): string {
  return `---\nname: ${name}\ndescription: All about the ${name}\n---\n# ${name}\n`
}
