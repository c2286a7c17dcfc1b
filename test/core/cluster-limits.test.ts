import { createAddressLimits } from '../../packages/core/src/accounts/address-limits.ts'
import type { Database } from '@skillstead/core/internal'
import { createSharedLimits, type SharedLimits, sweepLeases } from '../../packages/core/src/storage/shared-limits.ts'
import { localApi, systemCaller } from '@skillstead/core'
import { listenNode } from '@skillstead/server'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { makePlace, type Place } from '../support/places.ts'
import { openDatabase, openRegistry } from '../support/open-registry.ts'

const isMissing = inject('postgresUrl') === null
const share = 8
const minute = 60_000

describe.skipIf(isMissing)('a limit on several nodes on one PostgreSQL', () => {
  let place: Place
  const databases: Database[] = []
  const errors: unknown[] = []
  let nodes: SharedLimits[]
  const closing: (() => Promise<void>)[] = []
  beforeAll(async () => {
    place = await makePlace('PostgreSQL')
    for (let i = 0; i < 3; i++) databases.push(await openDatabase(place.location))
    nodes = databases.map((database) => createSharedLimits(database, (error) => void errors.push(error))!)
  })
  afterAll(async () => {
    for (const node of nodes) node.stop()
    for (const database of databases) await database.close()
    await place.remove()
  })

  it('is shared: with a limit of 60, one of 61 requests to three nodes is refused', async () => {
    const urls = await Promise.all(Array.from({ length: 3 }, () => listen({ anonymous: 60 })))
    const answers: Response[] = []
    for (let i = 0; i < 61; i++) answers.push(await fetch(`${urls[i % 3]}/api/v1/skills`))
    const passed = answers.filter(({ status }) => status === 200)
    const refused = answers.filter(({ status }) => status === 429)
    expect(passed.length + refused.length).toBe(61)
    expect(passed.length).toBeLessThanOrEqual(60)
    // Most of the limit is usable, whichever nodes get the requests.
    expect(passed.length).toBeGreaterThan(50)
    for (const { headers } of answers) {
      expect(headers.get('x-ratelimit-limit')).toBe('60')
      expect(headers.get('ratelimit-policy')).toBe('"anonymous";q=60;w=60')
      expect(Number(headers.get('x-ratelimit-remaining'))).toBeLessThan(60)
    }
    for (const { headers } of refused) {
      expect(headers.get('x-ratelimit-remaining')).toBe('0')
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
      expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(60)
    }
  })

  it('is never exceeded by concurrent requests', async () => {
    for (const points of [1, 7, 60, 500]) {
      const states = await Promise.all(
        Array.from({ length: 3 * points + 5 }, (_, i) =>
          nodes[i % 3]!.take(`burst ${points}`, { points, windowMs: minute, share }),
        ),
      )
      expect(states.filter((state) => !state!.exceeded).length, `${points}`).toBeLessThanOrEqual(points)
      expect(states.filter((state) => !state!.exceeded).length, `${points}`).toBeGreaterThan(points / 2)
    }
  })

  it('is never exceeded by requests that cost several points, which get all of the points or none', async () => {
    const allowance = { points: 1000, windowMs: minute, share }
    const states = await Promise.all(Array.from({ length: 40 }, (_, i) => nodes[i % 3]!.take('several', allowance, 70)))
    const given = states.filter((state) => !state!.exceeded).length
    expect(given).toBeLessThanOrEqual(14)
    expect(given).toBeGreaterThan(7)
    expect((await nodes[0]!.take('whole', allowance, 1001))!.exceeded).toBe(true)
    expect((await nodes[0]!.take('whole', allowance, 1000))!.exceeded).toBe(false)
  })

  it('can be used up by a single node, and is reset when the next window starts', async () => {
    const states = []
    for (let i = 0; i < 41; i++) states.push((await nodes[0]!.take('window', { points: 40, windowMs: minute, share }))!)
    expect(states.map(({ remaining }) => remaining)).toEqual([...Array.from({ length: 40 }, (_, i) => 39 - i), 0])
    expect(states.map(({ exceeded }) => exceeded).indexOf(true)).toBe(40)
    const once = { points: 1, windowMs: 1500, share }
    for (const node of nodes)
      await expect.poll(async () => (await node.take('once', once))!.exceeded, { interval: 50 }).toBe(false)
  })

  it('is reset after the clock of the database was set back', async () => {
    const allowance = { points: 1, windowMs: minute, share }
    expect((await nodes[0]!.take('set back', allowance))!.exceeded).toBe(false)
    expect((await nodes[1]!.take('set back', allowance))!.exceeded).toBe(true)
    const { rows } = await query(
      `update rate_leases set ends_at = ends_at + 3600000 where taken = 1 and points = 1 returning key`,
    )
    expect(rows.length).toBeGreaterThan(0)
    expect((await nodes[2]!.take('set back', allowance))!).toMatchObject({ exceeded: false })
    expect((await nodes[2]!.take('set back', allowance))!.resetMs).toBeLessThanOrEqual(minute)
  })

  it('leaves no database rows of past windows', async () => {
    await query(`insert into rate_leases select 'over ' || i, 1, 1, 1, 1, 1, 0 from generate_series(1, 10050) as i`)
    await sweepLeases(databases[0]!)
    expect((await query(`select key from rate_leases where key like 'over %'`)).rowCount).toBe(0)
  })

  it('needs only one database statement for many requests', async () => {
    const before = nodes[0]!.counts.asked
    const allowance = { points: 6000, windowMs: minute, share }
    await Promise.all(Array.from({ length: 200 }, (_, i) => nodes[0]!.take(`each ${i}`, allowance)))
    expect(nodes[0]!.counts.asked - before).toBeLessThanOrEqual(3)
    for (let i = 0; i < 6000; i++) await nodes[0]!.take('one', allowance)
    expect(nodes[0]!.counts.asked - before).toBeLessThan(100)
  })

  it('is shared by all nodes if the limit applies per address and hour', async () => {
    const limits = nodes.map((node) => createAddressLimits(node))
    const taken: boolean[] = []
    for (let i = 0; i < 12; i++) taken.push(await limits[i % 3]!.take('vote', '203.0.113.1', 'a review'))
    expect(taken.filter(Boolean)).toHaveLength(10)
    expect(taken.slice(10)).toEqual([false, false])
    const { rows } = await query('select key from rate_leases')
    expect(JSON.stringify(rows)).not.toContain('203.0.113.1')
  })

  it('of one counted download per address and day is shared by the nodes', async () => {
    const urls = await Promise.all(Array.from({ length: 2 }, () => listen('off')))
    const registry = await openRegistry(place.location)
    onTestFinished(() => registry.close())
    const system = localApi(registry, systemCaller)
    await system.createUser({ username: 'alice' })
    const alice = localApi(registry, await registry.getCaller('alice'))
    await alice.publishSkill({ skillMd: skillMd('pdf'), version: '1.0.0' })
    for (const url of [...urls, ...urls]) {
      const response = await fetch(`${url}/api/v1/skills/alice%2Fpdf/skill.md`)
      expect(response.status).toBe(200)
      await response.text()
    }
    const downloads = async () => (await system.getSkill({ name: 'alice/pdf' })).downloads
    await expect.poll(downloads, { timeout: 5000 }).toBeGreaterThan(0)
    // The other node's counts are stored when it has closed, which it does when the test ends.
    for (const close of closing.splice(0)) await close()
    expect(await downloads()).toBe(1)
  })

  it('applies to each node separately while the database fails, and a metric counts the requests of that time', async () => {
    const registry = await openRegistry({ ...place.location, onError: () => {} })
    const node = await listenNode(registry, { port: 0, rates: { anonymous: 5 } })
    onTestFinished(async () => {
      await node.close()
      await registry.close()
    })
    const count = async () =>
      (await registry.metrics()).find(({ name }) => name === 'skillstead_rate_unshared_total')!.value
    expect(await count()).toBe(0)
    await query('alter table rate_leases rename to gone')
    const statuses: number[] = []
    for (let i = 0; i < 6; i++) statuses.push((await fetch(`${node.url}/api/v1/skills`)).status)
    await query('alter table gone rename to rate_leases')
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429])
    expect(await count()).toBe(6)
  })

  it('causes no error in any node during these tests', () => {
    expect(errors).toEqual([])
  })

  async function listen(rates: { anonymous: number } | 'off'): Promise<string> {
    const registry = await openRegistry(place.location)
    const node = await listenNode(registry, { port: 0, rates })
    let closed: Promise<void> | undefined
    const close = () => (closed ??= node.close().then(() => registry.close()))
    closing.push(close)
    onTestFinished(close)
    return node.url
  }

  async function query(text: string): Promise<pg.QueryResult> {
    const client = new pg.Client({ connectionString: place.location.databaseUrl! })
    await client.connect()
    try {
      return await client.query(text)
    } finally {
      await client.end()
    }
  }
})
