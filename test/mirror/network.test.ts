import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import { localApi } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import { createMirror, type Mirror } from '@skillstead/mirror'
import { RegistryError } from '@skillstead/protocol'
import { listenNode } from '@skillstead/server'
import { describe, expect, it, onTestFinished } from 'vitest'
import { refusalOf, skillMd } from '../support/answers.ts'
import { makeFolder } from '../support/cli-harness.ts'
import { createClock, describeDatabases } from '../support/harness.ts'
import {
  describeMirrors,
  openTestMirror,
  openUpstream,
  type OpenTestMirror,
  type TestMirror,
} from '../support/mirror-acts.ts'
import { findDamage, publishVersions, readState } from '../support/mirror-state.ts'
import {
  corrupt,
  cut,
  delay,
  on,
  openNetwork,
  replay,
  rewrite,
  truncate,
  type Fault,
  type Network,
} from '../support/network.ts'
import { makePlace } from '../support/places.ts'

const skills = 12
/** As many runs as no network should need. */
const runsMax = 60

interface Wired extends TestMirror {
  readonly upstream: Awaited<ReturnType<typeof openUpstream>>
  readonly network: Network
}

/** A node, a mirror of it that has nothing yet, and the network between them. */
async function wire(options: Parameters<OpenTestMirror>[0] = {}, open = openTestMirror): Promise<Wired> {
  const clock = createClock()
  const upstream = await openUpstream(skills, clock)
  const network = await openNetwork(upstream.url)
  onTestFinished(() => network.close())
  const test = await open({ clock, ...options })
  await test.mirror.add('main', network.url, { everySeconds: 0 })
  return { ...test, upstream, network }
}

/** Syncs until it is through; whatever stops it is let by, as an operator would who trusts the node. */
async function syncThrough(mirror: Mirror, whileFailing: () => Promise<void>): Promise<RegistryError[]> {
  const errors: RegistryError[] = []
  for (let run = 0; run < runsMax; run += 1) {
    const [status] = await mirror.status('main')
    try {
      await mirror.sync('main', { accept: status!.alarm?.code })
      return errors
    } catch (error) {
      if (!(error instanceof RegistryError)) throw error
      errors.push(error)
      await whileFailing()
    }
  }
  throw new Error(`It was not through after ${runsMax} runs: ${errors.join(', ')}.`)
}

describeMirrors('a faulty network', (open) => {
  const everything: [string, Fault][] = [
    [
      'cuts each third answer',
      ({ count, ...passing }) => (count % 3 === 1 ? cut(0.6)({ count, ...passing }) : undefined),
    ],
    ['cuts before the first byte', (passing) => (passing.count % 2 === 0 ? { cut: 0 } : undefined)],
    ['ends responses early', (passing) => (passing.count % 3 === 1 ? truncate(0.7)(passing) : undefined)],
    [
      'responds with status 503',
      ({ count }) => (count % 2 === 0 ? { status: 503, headers: { 'retry-after': '0' }, body: '' } : undefined),
    ],
    ['responds with a web page', ({ count }) => (count % 4 === 1 ? { body: '<html>Sign in</html>' } : undefined)],
    ['is slow', delay(20)],
  ]
  it.each(everything)(
    'that %s never makes a mirror serve false data, and the sync completes after retries',
    async (_, fault) => {
      const { mirror, registry, upstream, network, api } = await wire({}, open)
      const all = new Set(await readState(upstream.registry))
      network.fault = fault
      const errors = await syncThrough(mirror, async () => {
        for (const { fullName, latestVersion: version } of (await api.searchSkills({ limit: 100 })).skills) {
          const { digest } = await api.getVersion({ name: fullName, version })
          expect([...all].some((row) => row.includes(digest) && row.includes(`"version":"${version}"`))).toBe(true)
        }
        expect(await findDamage(registry)).toEqual([])
      })
      expect(errors.filter(({ code, message }) => code === 'not_found' || !/^[^\n]+[.?]$/.test(message))).toEqual([])
      expect(await readState(registry)).toEqual([...all])
      expect(await findDamage(registry)).toEqual([])
    },
  )
})

describe('a network that alters data', () => {
  it.each([0.02, 0.3, 0.5, 0.7, 0.98])(
    'cannot get altered data imported by changing one bit of each response, at the fraction %d of its length',
    async (share) => {
      const { mirror, registry, upstream, network } = await wire()
      const whole = await readState(upstream.registry)
      for (const path of [/feed/, /key/, /blobs/]) {
        network.fault = on(path, corrupt(share))
        await mirror.sync('main', { accept: (await mirror.status('main'))[0]!.alarm?.code }).catch((error: unknown) => {
          if (!(error instanceof RegistryError)) throw error
        })
        // What is half way is of fewer versions, so that only they are compared.
        expect(toDigests(await readState(registry)).filter((row) => !toDigests(whole).includes(row))).toEqual([])
      }
      network.fault = undefined
      await syncThrough(mirror, async () => {})
      expect(await readState(registry)).toEqual(whole)
    },
  )

  it('cannot remove skills by repeating an old response, and a shorter log pauses the mirror with the reason rollback', async () => {
    const { mirror, registry, upstream, network } = await wire()
    const past = replay()
    network.fault = on(/feed/, past)
    await mirror.sync('main')
    network.fault = undefined
    await publishVersions(upstream.alice, 'newer', 2)
    await mirror.sync('main')
    const whole = await readState(registry)
    network.fault = on(/feed/, (passing) => past({ ...passing, path: '/api/v1/feed' }))
    await refusalOf(mirror.sync('main'))
    expect(await readState(registry)).toEqual(whole)
    expect(await readState(upstream.registry)).toEqual(whole)
  })

  it('cannot get data imported by redirecting requests to another node', async () => {
    const { mirror, registry, network, clock } = await wire()
    await mirror.sync('main')
    const whole = await readState(registry)
    const other = await openUpstream(3, clock)
    network.leadTo(other.url)
    const { code } = await refusalOf(mirror.sync('main'))
    expect(code).toBe('conflict')
    expect(['epoch', 'key', 'origin']).toContain((await mirror.status('main'))[0]!.alarm?.code)
    expect(await readState(registry)).toEqual(whole)
  })

  it('does not make the mirror miss entries that are published while the mirror reads the feed', async () => {
    const { mirror, registry, upstream, network } = await wire()
    network.fault = on(/feed/, async ({ count }) => {
      if (count < 6) await publishVersions(upstream.alice, `late-${count}`, 1)
      return undefined
    })
    await mirror.sync('main')
    network.fault = undefined
    await mirror.sync('main')
    expect(await readState(registry)).toEqual(await readState(upstream.registry))
  })

  it('is detected if it omits removals from a feed', async () => {
    const { mirror, registry, upstream, network } = await wire()
    await mirror.sync('main')
    await upstream.alice.deleteSkill({ name: 'alice/skill-1' })
    const whole = await readState(registry)
    network.fault = on(
      /feed/,
      rewrite<{ entries: { type: string }[] }>((page) => ({
        ...page,
        entries: page.entries.filter(({ type }) => type !== 'withdrawn'),
      })),
    )
    await refusalOf(mirror.sync('main'))
    expect(await readState(registry)).toEqual(whole)
    network.fault = undefined
    await mirror.sync('main')
    expect(await readState(registry)).toEqual(await readState(upstream.registry))
  })
})

describe('a mirror with a full disk', () => {
  it('reports the full disk, stores no partial data, keeps serving, and recovers', async () => {
    const path = join(await makeFolder(), 'skills.db')
    const { mirror, registry, upstream, api } = await wire({ path })
    await mirror.sync('main')
    await publishVersions(upstream.alice, 'skill-1', 3)
    const noise = Array.from({ length: 20_000 }, () => Math.random().toString(36)).join(' ')
    await upstream.alice.publishSkill({ skillMd: skillMd('large', { body: noise }) })
    await publishVersions(upstream.alice, 'after', 1)
    const before = await readState(registry)
    const limitPages = (max: number) =>
      partsOf(registry).database.writer.write((trx) => sql`pragma max_page_count = ${sql.lit(max)}`.execute(trx))
    await limitPages(1)
    const error = await refusalOf(mirror.sync('main'))
    expect(error.code).toBe('overloaded')
    expect((await readState(registry)).filter((row) => !before.includes(row) && row.includes('large'))).toEqual([])
    expect((await api.getSkill({ name: 'alice/skill-1' })).fullName).toBe('alice/skill-1')
    await limitPages(1_000_000)
    await mirror.sync('main')
    expect(await readState(registry)).toEqual(await readState(upstream.registry))
    expect(await findDamage(registry)).toEqual([])
  })
})

describeDatabases('two concurrent syncs', (_, dialect) => {
  it('in two processes run once, or fail with the error conflict', async () => {
    const { location, remove } = await makePlace(dialect)
    onTestFinished(remove)
    const one = await wire(location)
    const two = await openTestMirror({ ...location, clock: one.clock })
    one.network.fault = delay(50)
    const outcomes = await Promise.allSettled([
      one.mirror.sync('main'),
      one.mirror.sync('main'),
      two.mirror.sync('main'),
      createMirror(two.registry).sync('main'),
    ])
    const done = outcomes.filter(({ status }) => status === 'fulfilled')
    expect(done.length).toBeGreaterThan(0)
    const reasons = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []))
    expect(reasons).toEqual(reasons.map(() => expect.objectContaining({ code: 'conflict' }) as unknown))
    expect(await readState(two.registry)).toEqual(await readState(one.upstream.registry))
    const { head } = await one.api.getFeed({ limit: 1 })
    expect(head).toBe((await one.upstream.alice.getFeed({ limit: 1 })).head)
    expect(await findDamage(one.registry)).toEqual([])
  })
})

describeMirrors('mirrors of each other', (open) => {
  it('each end with all skills, and repeat no entries', async () => {
    const clock = createClock()
    const nodes = await Promise.all(
      ['a', 'b', 'c'].map(async (name) => {
        const test = await open({ clock, origin: `${name}.example` })
        const node = await listenNode(test.registry, { port: 0, rates: 'off' })
        onTestFinished(() => node.close())
        await publishVersions(await test.user(`user-${name}`), `from-${name}`, 2)
        return { ...test, name, url: node.url }
      }),
    )
    for (const node of nodes) {
      for (const other of nodes) if (other !== node) await node.mirror.add(other.name, other.url, { everySeconds: 0 })
    }
    const round = async () => {
      for (const node of nodes) for (const other of nodes) if (other !== node) await node.mirror.sync(other.name)
    }
    const heads = () => Promise.all(nodes.map(async ({ api }) => (await api.getFeed({ limit: 1 })).head))
    for (let i = 0; i < 3; i += 1) await round()
    const settled = await heads()
    for (let i = 0; i < 3; i += 1) await round()
    expect(await heads()).toEqual(settled)
    const [first, ...others] = await Promise.all(
      nodes.map(async ({ registry }) => (await readState(registry)).map((row) => row.replace(/"holds":[^,]+,/, ''))),
    )
    expect(first).toHaveLength(6)
    for (const other of others) expect(other).toEqual(first)
    // A removal goes all the way round, and stops where it began.
    const [a] = nodes
    await localApi(a!.registry, await a!.registry.getCaller('user-a')).deleteSkill({ name: 'user-a/from-a' })
    for (let i = 0; i < 3; i += 1) await round()
    for (const { api } of nodes) {
      expect((await api.searchSkills({})).skills.map(({ fullName }) => fullName).toSorted()).toEqual([
        'user-b/from-b',
        'user-c/from-c',
      ])
    }
    for (const { registry } of nodes) expect(await findDamage(registry)).toEqual([])
  })

  it('import nothing if a node has itself as upstream', async () => {
    const test = await open({ origin: 'self.example' })
    const node = await listenNode(test.registry, { port: 0, rates: 'off' })
    onTestFinished(() => node.close())
    await publishVersions(await test.user('alice'), 'mine', 2)
    await test.mirror.add('self', node.url, { everySeconds: 0 })
    const before = await test.api.getFeed({})
    await test.mirror.sync('self')
    await test.mirror.sync('self')
    expect((await test.api.getFeed({})).entries).toEqual(before.entries)
    expect((await test.api.getSkill({ name: 'alice/mine' })).origin.kind).toBe('local')
  })
})

it('a mirror that closes waits for the refreshes that reads began', async () => {
  const clock = createClock()
  const upstream = await openUpstream(1, clock)
  for (let i = 0; i < 2; i += 1) {
    const errors: unknown[] = []
    const onError = (error: unknown) => void errors.push(error)
    const { mirror, registry, api } = await openTestMirror({ clock, mirror: { onError } })
    await mirror.add('main', upstream.url, { everySeconds: 1 })
    await mirror.sync('main')
    clock.advance(1_000_000)
    const reads = Array.from({ length: 20 }, () => api.searchSkills({}))
    await mirror.close()
    await Promise.all([...reads, api.searchSkills({})])
    await registry.close()
    await setImmediate()
    expect(errors).toEqual([])
  }
})

/** Of each version its number and digest. */
function toDigests(rows: readonly string[]): string[] {
  return rows.map((row) => /"version":.*?"digest":"[^"]+"/.exec(row)![0])
}
