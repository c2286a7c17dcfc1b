import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { localApi, type Registry, systemCaller, systemClock } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { openRegistry } from '../support/open-registry.ts'
import { startPostgres, type TestPostgres, type TestReplica } from '../support/postgres.ts'

describe.skipIf(inject('postgresUrl') === null)('a replica for lists and searches (PostgreSQL only)', () => {
  let primary: TestPostgres
  let replica: TestReplica
  beforeAll(async () => {
    primary = await startPostgres()
    replica = await primary.startReplica()
  })
  afterAll(() => primary?.stop())

  const toReplica = (databaseUrl: string) => replica.url + new URL(databaseUrl).pathname.slice(1)

  /** A registry that searches in the database, its user ann, and another node that has no replica. */
  async function open(of: (databaseUrl: string) => string = toReplica, clock = systemClock) {
    const databaseUrl = await primary.createDatabase()
    const errors: string[] = []
    const options = { databaseUrl, memorySkillsMax: 0, answerBytesMax: 0, works: false, clock }
    const onError = (error: unknown) => void errors.push(String(error))
    const other = await openRegistry({ ...options, onError })
    const registry = await openRegistry({ ...options, databaseReadUrl: of(databaseUrl), onError })
    onTestFinished(async () => {
      for (const one of [registry, other]) await one.close()
    })
    await localApi(registry, systemCaller).createUser({ username: 'ann', plan: 'enterprise' })
    const caller = await registry.getCaller('ann')
    const names = async (q?: string) => {
      const { skills } = await localApi(registry, caller).searchSkills({ sort: 'downloads', ...(q && { q }) })
      return skills.map(({ name }) => name).toSorted()
    }
    return { registry, api: localApi(registry, caller), elsewhere: localApi(other, caller), errors, names }
  }

  it('shows at once what any node has committed', async () => {
    const { registry, api, elsewhere, names, errors } = await open()
    const published: string[] = []
    for (let i = 0; i < 10; i++) {
      await (i % 2 ? api : elsewhere).publishSkill({ skillMd: skillMd(`skill-${i}`) })
      published.push(`skill-${i}`)
      expect([await names(), await names('skill')]).toEqual([published, published])
    }
    await elsewhere.publishSkill({ name: 'skill-3', visibility: 'private' })
    expect((await localApi(registry).searchSkills({})).total).toBe(9)
    const [used = 0, refused = 0] = await readCounts(registry)
    expect(used + refused).toBe(21)
    // A replica that was late at each of these reads is asked again a second later.
    await expect
      .poll(async () => (await names()) && (await readCounts(registry))[0], { timeout: 10_000 })
      .toBeGreaterThan(0)
    expect(errors.filter(isNoDelay)).toEqual([])
  })

  it('shows the trends of the current hour', async () => {
    let nowMs = Date.UTC(2026, 0, 2, 12)
    const { registry, api, errors } = await open(toReplica, { ...systemClock, now: () => nowMs })
    await api.publishSkill({ skillMd: skillMd('tea') })
    for (let i = 0; i < 5; i++) {
      await localApi(registry).track({ skillName: 'ann/tea' })
      await partsOf(registry).telemetry.flush()
      expect((await api.getTrending({ period: 'day' })).entries).toMatchObject([{ installs: 1 }])
      nowMs += 25 * 3_600_000
      expect((await api.getTrending({ period: 'day' })).entries).toEqual([])
    }
    expect(errors.filter(isNoDelay)).toEqual([])
  })

  it('lets the primary answer while the replica is late', async () => {
    const { registry, api, names, errors } = await open()
    await replica.query('select pg_wal_replay_pause()')
    try {
      await api.publishSkill({ skillMd: skillMd('late') })
      expect(await Promise.all([names(), names('late'), names()])).toEqual([['late'], ['late'], ['late']])
    } finally {
      await replica.query('select pg_wal_replay_resume()')
    }
    expect(await readCounts(registry)).toEqual([0, 3])
    // It is asked again a second later.
    await expect
      .poll(async () => [await names(), (await readCounts(registry))[0]], { timeout: 10_000 })
      .toEqual([['late'], 1])
    expect(errors.filter(isNoDelay)).toEqual([])
  })

  it('lets the primary answer if a read of the replica fails, or if the replica is unavailable', async () => {
    const { registry, api, names, errors } = await open()
    await api.publishSkill({ skillMd: skillMd('kept') })
    const { replica: own } = partsOf(registry)
    const readFailing = () =>
      own!.read((database) =>
        database === own!.database
          ? Promise.reject(Object.assign(new Error('conflict with recovery'), { code: '40001' }))
          : names(),
      )
    // A replica that is late is not read at all, and one that is slow is left.
    await expect
      .poll(async () => ({ found: await readFailing(), errors: errors.filter(isNoDelay) }))
      .toEqual({ found: ['kept'], errors: ['Error: conflict with recovery'] })
    const mistake = new RangeError('a mistake of ours')
    await expect(own!.read(() => Promise.reject(mistake))).rejects.toBe(mistake)
    const gone = await open(() => 'postgres://postgres:password@127.0.0.1:1/skillstead_1')
    await gone.api.publishSkill({ skillMd: skillMd('there') })
    expect([await gone.names(), await gone.names('there')]).toEqual([['there'], ['there']])
    expect(gone.errors).toEqual([expect.stringContaining('ECONNREFUSED')])
    expect(await readCounts(gone.registry)).toEqual([0, 2])
  })

  it('is never read if it belongs to another registry or does not follow the primary', async () => {
    const first = await open()
    await first.api.publishSkill({ skillMd: skillMd('foreign') })
    await first.names()
    const copied = new URL(await primary.createDatabase())
    for (const other of [`${replica.url}skillstead_1`, copied.href, `${primary.url}skillstead_1`]) {
      const { names, errors } = await open(() => other)
      const readErrors = async () => {
        expect(await names()).toEqual([])
        return errors.filter(isNoDelay)
      }
      await expect.poll(readErrors).toEqual([expect.stringContaining('is no streaming replica of')])
    }
  })

  it('lets the primary answer while the replica does not respond, and does not prevent closing', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    onTestFinished(() => void silent.close())
    const { port } = silent.address() as AddressInfo
    const { api, names, errors, registry } = await open(() => `postgres://postgres:password@127.0.0.1:${port}/x`)
    await api.publishSkill({ skillMd: skillMd('there') })
    expect(await Promise.all([names(), names('there')])).toEqual([['there'], ['there']])
    expect(errors).toEqual([expect.stringContaining('The replica did not answer within')])
    await registry.close()
  })

  it('cannot be configured without the database of which it is a replica', async () => {
    const opening = openRegistry({ path: ':memory:', databaseReadUrl: `${replica.url}skillstead_1` })
    await expect(opening).rejects.toThrow('`databaseReadUrl` is a replica of `databaseUrl`: pass both.')
  })
})

/** On a busy machine a replica may answer too late, which is reported. */
const isNoDelay = (error: string) => !error.includes('The replica did not answer within')

async function readCounts(registry: Registry) {
  const metrics = await registry.metrics()
  const valueOf = (name: string) => metrics.find((metric) => metric.name === name)?.value
  return [valueOf('skillstead_replica_reads_total'), valueOf('skillstead_replica_refused_total')]
}
