import { setTimeout as sleep } from 'node:timers/promises'
import { partsOf } from '@skillstead/core/internal'
import { createMirror } from '@skillstead/mirror'
import { afterEach, expect, it } from 'vitest'
import { describeDatabases } from '../support/harness.ts'
import { endMirrors, openMirror, openUpstream } from '../support/mirror-harness.ts'
import { poisonRows, poisonText } from '../support/poison.ts'
import { withUpstreams } from '../../packages/mirror/src/tables/mirror-tables.ts'

afterEach(endMirrors)

describeDatabases('syncs of a mirror', (open) => {
  async function openFollowed(options: Parameters<typeof openMirror>[1] = {}) {
    const upstream = await openUpstream(open)
    await upstream.publish('pdf')
    const followed = await openMirror(open, options)
    return { upstream, ...followed }
  }

  it('run one at a time in a process', async () => {
    const { upstream, mirror } = await openFollowed()
    await mirror.add('main', upstream.url)
    const [one, two] = await Promise.allSettled([mirror.sync('main'), mirror.sync('main')])
    expect(one).toMatchObject({ status: 'fulfilled', value: { applied: 1 } })
    expect(two).toMatchObject({ status: 'rejected', reason: { code: 'conflict' } })
  })

  it('run one at a time on several nodes that share a database', async () => {
    const { upstream, mirror, test } = await openFollowed()
    const second = await openMirror(open, {}, { at: test.location })
    await mirror.add('main', upstream.url)
    let refused: Promise<unknown> | undefined
    await mirror.sync('main', {
      async onProgress() {
        refused ??= second.mirror.sync('main').catch((error: unknown) => error)
      },
    })
    // The second run either saw the first one running, or started after it: the two never ran concurrently.
    expect([undefined, 'conflict']).toContain(((await refused) as { code?: string }).code)
    expect((await test.api().getFeed({})).entries).toHaveLength(1)
  })

  it('continue at once after the process that ran the sync was killed', async () => {
    const { upstream, mirror, test } = await openFollowed()
    await mirror.add('main', upstream.url)
    const lease = `${(await import('node:os')).hostname()}/4194999/gone`
    await partsOf(test.registry).database.writer.write((trx) =>
      withUpstreams(trx)
        .updateTable('upstreams')
        .set({ lease, lease_until: test.clock.now() + 10_000 })
        .execute(),
    )
    expect(await mirror.sync('main')).toMatchObject({ applied: 1 })
  })

  it('continue after the lease expires if the killed process ran on another machine', async () => {
    const { upstream, mirror, test } = await openFollowed()
    await mirror.add('main', upstream.url)
    await partsOf(test.registry).database.writer.write((trx) =>
      withUpstreams(trx)
        .updateTable('upstreams')
        .set({ lease: 'elsewhere/1/x', lease_until: test.clock.now() + 10_000 })
        .execute(),
    )
    const run = mirror.sync('main')
    await sleep(300)
    test.clock.advance(20_000)
    expect(await run).toMatchObject({ applied: 1 })
  })

  it('end if another node took over the upstream, and import nothing twice', async () => {
    const { upstream, mirror, test } = await openFollowed()
    await mirror.add('main', upstream.url)
    let isTaken = false
    const run = mirror.sync('main', {
      onProgress() {
        if (isTaken) return
        isTaken = true
        void partsOf(test.registry).database.writer.write((trx) =>
          withUpstreams(trx).updateTable('upstreams').set({ lease: 'elsewhere/1/x', lease_until: 0 }).execute(),
        )
      },
    })
    await expect(run).rejects.toMatchObject({ code: 'conflict' })
    expect(await mirror.sync('main')).toMatchObject({ applied: 1 })
    expect((await test.api().getFeed({})).entries).toHaveLength(1)
  })

  it('refuse a version that fails in the database, import all others, and try it again', async () => {
    const upstream = await openUpstream(open)
    const names = Array.from({ length: 8 }, (_, i) => `skill-${i}`)
    for (const name of names) await upstream.publish(name)
    const logged: unknown[] = []
    const { mirror, test } = await openMirror(open, {}, { onError: (error) => void logged.push(error) })
    await mirror.add('main', upstream.url)
    const { database } = partsOf(test.registry)
    const heal = await poisonRows(database, { table: 'log', when: "new.subject = 'alice/skill-3@1.0.0'" })
    const report = await mirror.sync('main')
    expect(report).toMatchObject({ applied: 7, refused: [{ subject: 'alice/skill-3@1.0.0', reason: 'failed' }] })
    expect(JSON.stringify(report)).not.toContain(poisonText)
    expect(logged).toMatchObject([{ message: 'alice/skill-3@1.0.0 could not be mirrored.' }])
    expect(logged).toMatchObject([{ cause: { message: poisonText } }])
    await upstream.publish('later')
    expect(await mirror.sync('main')).toMatchObject({ applied: 1, refused: [{ reason: 'failed' }] })
    await heal()
    test.clock.advance(5 * 60_000)
    expect(await mirror.sync('main')).toMatchObject({ applied: 1, refused: [] })
    expect((await test.api().searchSkills({ owner: 'alice' })).total).toBe(9)
  })

  it('end with the error of a full disk or of a removal that fails, and continue when repeated', async () => {
    const { upstream, mirror, test } = await openFollowed()
    const { database } = partsOf(test.registry)
    await mirror.add('main', upstream.url)
    const when = "new.subject = 'alice/pdf@1.0.0'"
    const free = await poisonRows(database, { table: 'log', when, as: 'full disk' })
    await expect(mirror.sync('main')).rejects.toMatchObject({ code: 'overloaded' })
    await free()
    expect(await mirror.sync('main')).toMatchObject({ applied: 1, refused: [] })
    await upstream.alice.api.deleteSkill({ name: 'alice/pdf' })
    const heal = await poisonRows(database, { table: 'log', when: "new.type = 'withdrawn'" })
    await expect(mirror.sync('main')).rejects.toThrow(poisonText)
    await expect(mirror.sync('main')).rejects.toThrow(poisonText)
    await heal()
    expect(await mirror.sync('main')).toMatchObject({ removed: 1 })
  })

  it('can be cancelled while they wait for another node', async () => {
    const { upstream, mirror, test } = await openFollowed()
    await mirror.add('main', upstream.url)
    const takeFor = (until: number) =>
      partsOf(test.registry).database.writer.write((trx) =>
        withUpstreams(trx).updateTable('upstreams').set({ lease: 'elsewhere/1/x', lease_until: until }).execute(),
      )
    await takeFor(test.clock.now() + 10_000)
    const ending = new AbortController()
    const run = mirror.sync('main', { signal: ending.signal }).catch((error: unknown) => error)
    ending.abort()
    expect(await run).toMatchObject({
      code: 'shutting_down',
      message: expect.stringMatching(/^The sync of 'main' was/),
    })
    expect(await mirror.status('main')).toMatchObject([{ lastError: null, triedAt: null }])
    await takeFor(0)
    expect(await mirror.sync('main')).toMatchObject({ applied: 1 })
  })

  it('still run while many readers cause upstream requests', async () => {
    const { upstream, mirror, test } = await openFollowed()
    await mirror.add('main', upstream.url, { mode: 'pull-through' })
    let isOver = false
    const readers = Array.from({ length: 3 }, async (_, reader) => {
      for (let i = 0; !isOver; i += 1)
        await test
          .api()
          .getSkill({ name: `alice/no-${reader}-${i}` })
          .catch(() => {})
    })
    for (let i = 0; i < 3; i += 1) expect(await mirror.sync('main')).toMatchObject({ upstream: 'main' })
    isOver = true
    await Promise.all(readers)
  })

  it('run on schedule', async () => {
    const { upstream, mirror, test, errors } = await openFollowed()
    await mirror.add('main', upstream.url, { everySeconds: 600 })
    await mirror.add('by-hand', upstream.url, { everySeconds: 0 })
    mirror.start()
    // The next run is reckoned from the end of this one, so that it must have ended before the clock leaps.
    await expect.poll(() => mirror.status('main')).toMatchObject([{ skills: 1, state: 'current' }])
    await upstream.publish('tea')
    test.clock.advance(601_000)
    await expect.poll(async () => (await mirror.status('main'))[0]!.skills).toBe(2)
    expect(await mirror.status('by-hand')).toMatchObject([{ state: 'new', triedAt: null, nextAt: null }])
    expect(errors).toEqual([])
  })

  it('start with the upstream of highest priority, which becomes the source of shared names', async () => {
    const [low, high] = [await openUpstream(open), await openUpstream(open)]
    await low.publish('pdf', '1.0.0')
    await high.publish('pdf', '2.0.0')
    const { mirror, test } = await openMirror(open)
    await mirror.add('a-low', low.url, { priority: 1 })
    await mirror.add('b-high', high.url, { priority: 2 })
    expect((await mirror.list()).map(({ name }) => name)).toEqual(['b-high', 'a-low'])
    mirror.start()
    await expect.poll(async () => (await mirror.status('a-low'))[0]!.refused).toBe(1)
    expect(await test.api().getSkill({ name: 'alice/pdf' })).toMatchObject({ latestVersion: '2.0.0' })
  })

  it('report an unreachable upstream, and keep its skills', async () => {
    const { upstream, mirror, test } = await openFollowed()
    await mirror.add('main', upstream.url)
    await mirror.sync('main')
    await upstream.node.close()
    await expect(mirror.sync('main')).rejects.toMatchObject({ code: 'upstream_failed' })
    expect(await mirror.status('main')).toMatchObject([
      { state: 'behind', skills: 1, alarm: null, lastError: { code: 'upstream_failed' }, lastReport: { applied: 1 } },
    ])
    expect(await test.api().getSkill({ name: 'pdf' })).toMatchObject({ fullName: 'alice/pdf' })
  })

  it('do not run in offline mode', async () => {
    const { upstream, mirror } = await openFollowed({ mode: 'offline' })
    await mirror.add('main', upstream.url)
    await expect(mirror.sync('main')).rejects.toMatchObject({ code: 'offline', status: 503 })
    expect(mirror.mode).toBe('offline')
    expect(await mirror.status('main'), 'the upstream did nothing wrong').toMatchObject([
      { state: 'new', triedAt: null, lastError: null },
    ])
  })

  it('end when the mirror closes, and no sync starts afterwards', async () => {
    const { upstream, test } = await openFollowed()
    for (let i = 0; i < 110; i += 1) await upstream.publish(`skill-${i}`)
    const mirror = createMirror(test.registry)
    await mirror.add('main', upstream.url)
    const run = mirror.sync('main').catch((error: unknown) => error)
    await mirror.close()
    expect(await run).toMatchObject({ code: 'shutting_down' })
    await expect(mirror.sync('main')).rejects.toMatchObject({ code: 'shutting_down' })
  })
})

describeDatabases('upstreams', (open) => {
  it('with invalid settings are rejected with an error message', async () => {
    const { mirror } = await openMirror(open)
    const refused = (name: string, location: string, options = {}) =>
      expect(mirror.add(name, location, options)).rejects.toMatchObject({ code: 'invalid_request' })
    await refused('No Name', 'https://skills.example.com')
    await refused('main', 'ftp://skills.example.com', { kind: 'node' })
    await refused('main', 'https://me:secret@skills.example.com')
    await refused('main', 'https://skills.example.com', { key: 'no key' })
    await refused('main', 'https://skills.example.com', { mode: 'selected' })
    await refused('main', 'https://skills.example.com', { everySeconds: -1 })
    await expect(mirror.sync('main')).rejects.toMatchObject({ code: 'not_found' })
    await expect(mirror.remove('main')).rejects.toMatchObject({ code: 'not_found' })
    await mirror.add('main', 'https://skills.example.com/')
    await expect(mirror.add('main', 'https://skills.example.com')).rejects.toMatchObject({ code: 'name_taken' })
    expect(await mirror.list()).toMatchObject([
      { name: 'main', kind: 'node', location: 'https://skills.example.com', state: 'new', settings: { mode: 'full' } },
    ])
  })

  it('and their stored logs can be removed, but the skills imported from them stay', async () => {
    const upstream = await openUpstream(open)
    await upstream.publish('pdf')
    const { mirror, test } = await openMirror(open)
    await mirror.add('main', upstream.url)
    await mirror.sync('main')
    await mirror.remove('main')
    expect(await mirror.list()).toEqual([])
    expect(await test.api().getSkill({ name: 'alice/pdf' })).toMatchObject({ latestVersion: '1.0.0' })
    await mirror.add('main', upstream.url)
    expect(await mirror.sync('main')).toMatchObject({ applied: 0, unchanged: 1 })
  })
})
