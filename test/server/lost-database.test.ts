import { localApi, type Registry, systemCaller } from '@skillstead/core'
import { partsOf, toRegistryError } from '@skillstead/core/internal'
import { type ListeningNode, listenNode } from '@skillstead/server'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { connectPostgres } from '../../packages/core/src/storage/database.ts'
import { skillMd } from '../support/answers.ts'
import { openCuttingProxy } from '../support/cutting-proxy.ts'
import { toKey, walk } from '../support/gateway-walk.ts'
import { openRegistry } from '../support/open-registry.ts'
import { makePlace, type Place } from '../support/places.ts'
import { runSql } from '../support/postgres-databases.ts'
import { json } from '../support/server-harness.ts'
import { steady } from '../support/steady.ts'

const server = inject('postgresUrl')

describe.skipIf(server === null)('a node whose PostgreSQL fails', () => {
  let place: Place
  let proxy: Awaited<ReturnType<typeof openCuttingProxy>>
  let registry: Registry
  let node: ListeningNode
  let key: string
  let count = 0

  beforeAll(async () => {
    place = await makePlace('PostgreSQL')
    proxy = await openCuttingProxy(place.location.databaseUrl!)
    registry = await openRegistry({ databaseUrl: proxy.databaseUrl, works: false, onError: () => {} })
    await partsOf(registry).search.warmed
    key = (await localApi(registry, systemCaller).createUser({ username: 'ann', plan: 'enterprise' })).key
    node = await listenNode(registry, { port: 0, ...steady, graceMs: 100, discoveryPack: 'walk' })
    // The first publish has more than one commit.
    await publish()
  })
  afterAll(async () => {
    await node?.close()
    await registry?.close()
    proxy?.close()
    await place?.remove()
  })

  const ask = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    fetch(node.url + path, {
      ...(body !== undefined && json(body)),
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    })
  const read = async (path: string) => (await ask('GET', path)).json() as Promise<Record<string, never[]>>

  async function publish(): Promise<string> {
    const name = `skill-${++count}`
    expect((await ask('PUT', '/api/v1/skills', { skillMd: skillMd(name), version: '1.0.0' })).status).toBe(201)
    return name
  }

  it.each(['before', 'after'] as const)('stores a version once if the connection fails %s the commit', async (when) => {
    const name = `skill-${++count}`
    proxy.cutCommit(when)
    const body = { skillMd: skillMd(name), version: '1.0.0' }
    const { statuses } = await untilAnswered(() => ask('PUT', '/api/v1/skills', body))
    expect(statuses).toEqual([503, when === 'before' ? 201 : 200])
    const subjects = (await read('/api/v1/feed?limit=1000'))['entries']!.map(({ subject }) => subject)
    expect(subjects.filter((subject) => subject === `ann/${name}@1.0.0`)).toHaveLength(1)
    expect((await read(`/api/v1/skills/ann%2F${name}/versions`))['versions']).toHaveLength(1)
    await expect.poll(async () => (await read(`/api/v1/skills?q=${name}`))['skills']![0]).toMatchObject({ name })
  })

  it.each(['before', 'after'] as const)('yanks or deletes once if the connection fails %s the commit', async (when) => {
    const name = await publish()
    const path = `/api/v1/skills/ann%2F${name}`
    proxy.cutCommit(when)
    const yank = await untilAnswered(() => ask('DELETE', `${path}/versions/1.0.0`))
    expect(yank.statuses).toEqual([503, 204])
    expect((await read(`${path}/versions`))['versions']).toMatchObject([{ yanked: true }])
    proxy.cutCommit(when)
    const deletion = await untilAnswered(() => ask('DELETE', path))
    expect(deletion.statuses).toEqual([503, when === 'before' ? 204 : 404])
    expect((await ask('GET', path)).status).toBe(404)
  })

  it('rejects a repeated POST with an Idempotency-Key if the commit was stored but not acknowledged', async () => {
    const path = `/api/v1/skills/ann%2F${await publish()}/shares`
    const send = () => ask('POST', path, {}, { 'idempotency-key': 'one-share' })
    // The first commit stores the key.
    proxy.cutCommit('after', 2)
    const { statuses, last } = await untilAnswered(send)
    expect(proxy.isDone).toBe(true)
    expect(statuses).toEqual([503, 409])
    expect(await last.json()).toMatchObject({ code: 'conflict', detail: expect.stringContaining('was stored') })
    expect((await read(path))['shares']).toHaveLength(1)
  })

  it('executes a repeated POST with an Idempotency-Key if the first commit failed', async () => {
    const path = `/api/v1/skills/ann%2F${await publish()}/shares`
    proxy.cutCommit('before', 2)
    const { statuses } = await untilAnswered(() => ask('POST', path, {}, { 'idempotency-key': 'another-share' }))
    expect(statuses).toEqual([503, 201])
    expect((await read(path))['shares']).toHaveLength(1)
  })

  it.each([
    ['accepts no connections', 'with allow_connections false', 'with allow_connections true'],
    ['cancels statements', 'set statement_timeout = 1', 'reset statement_timeout'],
    ['is read-only', 'set default_transaction_read_only = on', 'reset default_transaction_read_only'],
  ])('responds as before, or with 503 and Retry-After, while the database %s, and recovers', async (_, begin, end) => {
    const name = await publish()
    const skill = { owner: 'ann', name, version: '1.0.0', pack: 'walk', share: 'ssl_none' }
    const see = async () =>
      new Map((await walk(node.url, [skill])).map(({ visit, status, text }) => [toKey(visit), { status, text }]))
    const before = await see()
    await alter(begin)
    const during = await see()
    const feed = await ask('GET', '/api/v1/feed')
    const write = await ask('PUT', '/api/v1/skills', { skillMd: skillMd(name), version: '1.0.1' })
    await alter(end)
    const faults = [...during].filter(
      ([request, { status, text }]) =>
        status !== before.get(request)?.status && !(status === 503 && /^retry-after: \d+$/m.test(text)),
    )
    expect(faults).toEqual([])
    // Statements that take less than a millisecond are not cancelled.
    expect(begin.startsWith('set statement_timeout') ? [201, 503] : [503]).toContain(write.status)
    expect([200, 503]).toContain(feed.status)
    await expect.poll(async () => (await ask('GET', '/readyz')).status).toBe(200)
    const after = await see()
    // A version that was stored meanwhile has requests of its own: other commits of git, for example.
    const isAsked = (request: string) => write.status !== 201 || (before.has(request) && after.has(request))
    const statusesOf = (seen: typeof before) =>
      Object.fromEntries([...seen].flatMap(([request, { status }]) => (isAsked(request) ? [[request, status]] : [])))
    expect(statusesOf(after)).toEqual(statusesOf(before))
    const again = await ask('PUT', '/api/v1/skills', { skillMd: skillMd(name), version: '1.0.1' })
    expect(again.status).toBe(write.status === 201 ? 200 : 201)
  })

  /** Changes a setting of the database, and ends its connections, which have the old one. */
  async function alter(setting: string): Promise<void> {
    const name = new URL(proxy.databaseUrl).pathname.slice(1)
    const cut = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`
    await runSql(`${server}postgres`, `alter database ${name} ${setting}`)
    await runSql(`${server}postgres`, cut)
  }
})

describe.skipIf(server === null)('a connection to PostgreSQL', () => {
  it.each([
    ['to a host without an address', at((url) => (url.hostname = 'database.invalid'))],
    ['to a closed port', at((url) => (url.port = '9'))],
    ['with a wrong password', at((url) => (url.password = 'wrong'))],
    ['to a missing database', at((url) => (url.pathname = '/missing'))],
    ['with TLS to a server without it', at((url) => url.searchParams.set('sslmode', 'no-verify'))],
  ])('%s makes the storage unavailable, whatever the error', async (_, databaseUrl) => {
    const { read, main, close } = await connectPostgres(databaseUrl)
    const unavailable = { code: 'overloaded', status: 503, retryAfterSeconds: 2 }
    const reading = sql`select 1`.execute(read)
    expect(await reading.catch(toRegistryError)).toMatchObject(unavailable)
    const writing = main.transaction().execute((trx) => sql`select 1`.execute(trx))
    expect(await writing.catch(toRegistryError)).toMatchObject(unavailable)
    await close()
  })
})

/** Sends a request until it gets another answer than 503; fails if that cannot be repeated later. */
async function untilAnswered(send: () => Promise<Response>): Promise<{ statuses: number[]; last: Response }> {
  const statuses: number[] = []
  for (;;) {
    const last = await send()
    statuses.push(last.status)
    if (last.status !== 503) return { statuses, last }
    expect(last.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(statuses.length).toBeLessThan(100)
  }
}

function at(change: (url: URL) => void): string {
  const url = new URL(`${server ?? 'postgres://localhost/'}postgres`)
  change(url)
  return url.href
}
