import { partsOf } from '@skillstead/core/internal'
import type { AddOptions, MirrorOptions } from '@skillstead/mirror'
import { listenNode } from '@skillstead/server'
import { afterEach, expect, it, onTestFinished } from 'vitest'
import { describeDatabases } from '../support/harness.ts'
import { endMirrors } from '../support/mirror-harness.ts'
import { openPair, readFreshness } from '../support/mirror-reading-acts.ts'

afterEach(endMirrors)

describeDatabases('the freshness of a response', (open) => {
  async function openServed(...given: [add: AddOptions, options?: MirrorOptions]) {
    const pair = await openPair(open, ...given)
    const node = await listenNode(pair.test.registry, {
      port: 0,
      rates: 'off',
      graceMs: 1000,
      corsOrigins: ['https://elsewhere.example'],
    })
    onTestFinished(() => node.close())
    return { ...pair, url: node.url }
  }

  it('is not part of the response body', async () => {
    const { upstream, mirror, test } = await openPair(open, { mode: 'full' })
    await upstream.publish('pdf')
    await mirror.sync('main')
    const skill = await test.api().getSkill({ name: 'alice/pdf' })
    expect(Object.keys(skill)).not.toContain('stale')
    expect(skill.origin.syncedAt).toBe(new Date(test.clock.now()).toISOString())
  })

  it('is the number of seconds since the upstream confirmed a mirrored skill or list', async () => {
    const { upstream, mirror, test, url } = await openServed({ mode: 'full', everySeconds: 0 })
    await upstream.publish('pdf')
    await mirror.sync('main')
    test.clock.advance(90_500)
    const old = { status: 200, age: '90', stale: null }
    const paths = [
      '/skills/alice%2Fpdf',
      '/skills/pdf',
      '/skills/pdf/skill.md',
      '/skills/pdf/load?level=full',
      '/skills',
      '/suggest?q=p',
    ]
    for (const path of paths) expect([path, await readFreshness(url, path)]).toEqual([path, old])
    const search = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"q":"pdf"}' }
    expect(await readFreshness(url, '/search', search)).toEqual(old)
    await mirror.sync('main')
    expect(await readFreshness(url, '/skills/pdf'), 'though nothing changed').toEqual({ ...old, age: '0' })
    const readAgain = async () => {
      const { headers } = await fetch(url + '/api/v1/skills/pdf')
      return readFreshness(url, '/skills/pdf', { headers: { 'if-none-match': headers.get('etag')! } })
    }
    // The downloads above, which the entity tag covers, may be counted between the two requests.
    await expect.poll(readAgain).toEqual({ status: 304, age: '0', stale: null })
  })

  it('is stale after the maximum age that the operator set', async () => {
    const { upstream, mirror, test, url } = await openServed({ mode: 'full', everySeconds: 0, maxAgeSeconds: 3600 })
    await upstream.publish('pdf')
    await mirror.sync('main')
    test.clock.advance(3_600_000)
    expect(await readFreshness(url, '/skills/pdf')).toMatchObject({ stale: null })
    test.clock.advance(1000)
    upstream.test.clock.advance(3_601_000)
    expect(await readFreshness(url, '/skills/pdf')).toMatchObject({ age: '3601', stale: 'true' })
    await mirror.sync('main')
    expect(await readFreshness(url, '/skills/pdf')).toMatchObject({ age: '0', stale: null })
  })

  it('is stale only while the upstream is unreachable', async () => {
    const { upstream, network, mirror, test, url } = await openServed({ mode: 'full' }, { mode: 'online' })
    await upstream.publish('pdf')
    await mirror.sync('main')
    test.clock.advance(5000)
    network.fault = () => ({ cut: 0 })
    expect(await readFreshness(url, '/skills/pdf')).toEqual({ status: 200, age: '5', stale: 'true' })
    expect(await readFreshness(url, '/skills')).toMatchObject({ status: 200, stale: 'true' })
    network.fault = undefined
    test.clock.advance(30_000)
    expect(await readFreshness(url, '/skills/pdf')).toEqual({ status: 200, age: '0', stale: null })
  })

  it('is no longer stale after a successful sync', async () => {
    const { upstream, network, mirror, test, url } = await openServed({ everySeconds: 600 })
    await upstream.publish('pdf')
    await readFreshness(url, '/skills/alice%2Fpdf')
    network.fault = () => ({ cut: 0 })
    for (let i = 0; i < 3; i += 1) {
      test.clock.advance(1000)
      expect(await readFreshness(url, `/skills/alice%2Fno-${i}`)).toMatchObject({ status: 502 })
    }
    expect(await readFreshness(url, '/skills/alice%2Fpdf')).toMatchObject({ stale: 'true' })
    network.fault = undefined
    await mirror.sync('main')
    expect(await readFreshness(url, '/skills/alice%2Fpdf')).toEqual({ status: 200, age: '0', stale: null })
    expect(await readFreshness(url, '/skills/alice%2Fno-9'), 'and it is asked again').toMatchObject({ status: 404 })
  })

  it('is never stale for a version requested by its number, because its content never changes', async () => {
    const { upstream, network, mirror, test, url } = await openServed({ mode: 'full' })
    await upstream.publish('pdf')
    await upstream.publish('pdf', '1.1.0')
    await mirror.sync('main')
    network.fault = () => ({ cut: 0 })
    await mirror.sync('main').catch(() => undefined)
    test.clock.advance(7000)
    for (const path of ['/skills/pdf', '/skills/pdf/versions', '/skills/pdf/load?level=full'])
      expect([path, await readFreshness(url, path)]).toEqual([path, { status: 200, age: '7', stale: 'true' }])
    const query = 'version=1.0.0'
    const paths = ['/skills/pdf/versions/1.0.0', `/skills/pdf?${query}`, `/skills/pdf/load?${query}`]
    for (const path of [...paths, `/skills/pdf/skill.md?${query}`, '/skills/pdf/diff?from=1.0.0&to=1.1.0'])
      expect([path, await readFreshness(url, path)]).toEqual([path, { status: 200, age: '7', stale: null }])
  })

  it("is stale if the upstream's response was too late", async () => {
    const { upstream, network, mirror, test, url } = await openServed({ mode: 'full' }, { mode: 'online' })
    await upstream.publish('pdf')
    await mirror.sync('main')
    test.clock.advance(1000)
    const { promise: held, resolve: goOn } = Promise.withResolvers<undefined>()
    const before = network.requests.length
    network.fault = () => held
    const waiting = readFreshness(url, '/skills/pdf')
    await expect.poll(() => network.requests.length, { timeout: 60_000 }).toBeGreaterThan(before)
    test.clock.advance(2000)
    expect(await waiting).toEqual({ status: 200, age: '3', stale: 'true' })
    goOn(undefined)
  })

  it('is not stated for skills of this node, or by a node without upstreams', async () => {
    const { mirror, test, url } = await openServed({ mode: 'full' })
    const bob = await test.makeUser('bob')
    await bob.api.publishSkill({ skillMd: '---\nname: mine\ndescription: Mine\n---\nMine.\n' })
    const none = { status: 200, age: null, stale: null }
    expect(await readFreshness(url, '/skills/mine')).toEqual(none)
    expect(await readFreshness(url, '/packs')).toEqual(none)
    await mirror.remove('main')
    expect(partsOf(test.registry).upstreams.port).toBeUndefined()
    expect(await readFreshness(url, '/skills')).toEqual(none)
  })

  it('keeps aging after the upstream was removed', async () => {
    const { upstream, mirror, test, url } = await openServed({ mode: 'full' })
    await upstream.publish('pdf')
    await mirror.sync('main')
    await mirror.add('other', upstream.url)
    await mirror.remove('main')
    test.clock.advance(100_000_000)
    expect(await readFreshness(url, '/skills/pdf')).toEqual({ status: 200, age: '100000', stale: 'true' })
  })

  it('is readable by web pages of other origins', async () => {
    const { url } = await openServed({})
    const { headers } = await fetch(url + '/api/v1/skills', { headers: { origin: 'https://elsewhere.example' } })
    expect(headers.get('access-control-expose-headers')).toMatch(/\bage,.*\bx-skillstead-stale\b/)
  })
})
