import { partsOf } from '@skillstead/core/internal'
import { readBytes } from '@skillstead/skill-format/archives'
import { afterEach, expect, it } from 'vitest'
import { describeApi } from '../support/harness.ts'
import { endMirrors, openMirror, openUpstream, readTold } from '../support/mirror-harness.ts'
import { on } from '../support/network.ts'
import { openPair, openWay, readCode, takePaths } from '../support/mirror-reading-acts.ts'

afterEach(endMirrors)

describeApi('requests for skills of an upstream node', (open) => {
  it('import a skill by its full name with all versions, and keep the skill', async () => {
    const { upstream, network, test } = await openPair(open)
    await upstream.publish('pdf', '1.0.0')
    await upstream.publish('pdf', '1.1.0')
    await upstream.publish('tea')
    const pdf = await test.api().getSkill({ name: 'alice/pdf' })
    expect(readTold(pdf)).toEqual(readTold(await upstream.test.api().getSkill({ name: 'alice/pdf' })))
    expect(pdf.origin).toMatchObject({ kind: 'mirror', upstream: 'main' })
    expect((await test.api().searchSkills({})).total, 'skills that no one requested stay upstream').toBe(1)
    network.fault = () => ({ cut: 0 })
    expect(await readCode(test, 'alice/pdf')).toBe('ok')
    expect(await readCode(test, 'alice/pdf', { version: '1.0.0' })).toBe('ok')
    expect((await test.api().loadSkill({ name: 'alice/pdf', level: 'full' })).fullContent).toContain('In 1.1.0.')
    const { log, origin } = await test.api().getProvenance({ name: 'alice/pdf' })
    expect({ origin, log }).toMatchObject({
      origin: { kind: 'mirror' },
      log: { origin: partsOf(upstream.test.registry).origin },
    })
  })

  it('return the bill of materials of the upstream, even without a network', async () => {
    const { upstream, network, test } = await openPair(open)
    await upstream.publish('pdf', '1.0.0')
    const input = { name: 'alice/pdf', version: '1.0.0' }
    const read = async (api: ReturnType<typeof test.api>) => Buffer.from(await readBytes(await api.getSbom(input)))
    const theirs = (await read(upstream.test.api())).toString()
    expect((await read(test.api())).toString()).toBe(theirs)
    network.fault = () => ({ cut: 0 })
    expect((await read(test.api())).toString()).toBe(theirs)
  })

  it('never send the name of the skill: the mirror reads the whole log, then content by digest', async () => {
    const { upstream, network, test } = await openPair(open)
    await upstream.publish('pdf')
    await upstream.publish('tea')
    await test.api().getSkill({ name: 'alice/pdf' })
    expect(takePaths(network)).toEqual(['GET /feed?since=0&limit=1000', 'GET /key', 'POST /blobs/batch'])
    test.clock.advance(1000)
    await test.api().getSkill({ name: 'alice/tea' })
    expect(takePaths(network)).toEqual(['GET /feed?since=2&limit=1000', 'POST /blobs/batch'])
  })

  it('cause only one upstream request if several callers request the same missing skill at once', async () => {
    const { upstream, network, test } = await openPair(open)
    await upstream.publish('pdf')
    const codes = await Promise.all(Array.from({ length: 40 }, () => readCode(test, 'alice/pdf')))
    expect(new Set(codes)).toEqual(new Set(['ok']))
    expect(takePaths(network)).toHaveLength(3)
  })

  it("read the upstream's log at most once a second, whatever names are requested", async () => {
    const { upstream, network, test } = await openPair(open)
    await upstream.publish('pdf')
    for (let i = 0; i < 20; i++) expect(await readCode(test, `alice/guess-${i}`)).toBe('not_found')
    expect(takePaths(network)).toEqual(['GET /feed?since=0&limit=1000', 'GET /key'])
    expect(await readCode(test, 'alice/pdf')).toBe('ok')
    expect(takePaths(network)).toEqual(['POST /blobs/batch'])
  })

  it('cache for a minute that a skill does not exist', async () => {
    const { upstream, network, test } = await openPair(open)
    await upstream.publish('tea')
    expect(await readCode(test, 'alice/pdf')).toBe('not_found')
    takePaths(network)
    await upstream.publish('pdf')
    expect(await readCode(test, 'alice/pdf')).toBe('not_found')
    expect(takePaths(network)).toEqual([])
    test.clock.advance(60_000)
    expect(await readCode(test, 'alice/pdf')).toBe('ok')
  })

  it('ask the upstream for a missing version only once', async () => {
    const { upstream, network, test } = await openPair(open)
    await upstream.publish('pdf')
    await test.api().getSkill({ name: 'alice/pdf' })
    await upstream.publish('pdf', '2.0.0')
    test.clock.advance(1000)
    expect(await readCode(test, 'alice/pdf', { version: '2.0.0' })).toBe('ok')
    takePaths(network)
    test.clock.advance(1000)
    expect(await readCode(test, 'alice/pdf', { version: '9.9.9' })).toBe('not_found')
    expect(takePaths(network)).toEqual(['GET /feed?since=2&limit=1000'])
    expect(await readCode(test, 'alice/pdf', { version: '9.9.9' })).toBe('not_found')
    expect(await readCode(test, 'alice/pdf', { version: '1.0.0' })).toBe('ok')
    expect(takePaths(network)).toEqual([])
  })

  it('never send short names, private names, names of local users, or invalid names', async () => {
    const { upstream, network, test } = await openPair(open, {}, { privateNames: ['acme/*', 'secret-*'] })
    await upstream.publish('pdf')
    const bob = await test.makeUser('bob')
    await bob.api.publishSkill({ skillMd: '---\nname: mine\ndescription: Mine\n---\nMine.\n', visibility: 'private' })
    const names = ['pdf', 'acme/pdf', 'alice/secret-plan', 'bob/pdf', 'bob/mine', 'Alice/pdf', 'alice/pdf/x', 'api/pdf']
    for (const name of names) expect([name, await readCode(test, name)]).toEqual([name, 'not_found'])
    expect(takePaths(network)).toEqual([])
  })

  it('never send search terms or prefixes of names', async () => {
    const { network, test } = await openPair(open)
    await test.api().searchSkills({ q: 'the merger of acme' })
    await test.api().suggest({ q: 'alice/pd' })
    expect(takePaths(network).filter((path) => !path.startsWith('GET /feed?') && path !== 'GET /key')).toEqual([])
  })

  it('can load and fork skills that are not mirrored yet', async () => {
    const { upstream, test } = await openPair(open)
    await upstream.publish('pdf')
    await upstream.publish('tea')
    const bob = await test.makeUser('bob')
    const fork = await bob.api.forkSkill({ name: 'alice/pdf', newName: 'my-pdf' })
    expect(fork).toMatchObject({ fullName: 'bob/my-pdf', forkedFrom: { fullName: 'alice/pdf', version: '1.0.0' } })
    expect((await test.api().loadSkill({ name: 'alice/tea', level: 'metadata' })).metadata.name).toBe('tea')
  })

  it('never return not found because an upstream failed', async () => {
    const { upstream, network, test } = await openPair(open)
    await upstream.publish('pdf')
    network.fault = () => ({ status: 500, body: 'no' })
    expect(await readCode(test, 'alice/pdf')).toBe('upstream_failed')
    network.fault = () => ({ status: 429, headers: { 'retry-after': '60' }, body: 'no' })
    expect(await readCode(test, 'alice/pdf')).toBe('upstream_failed')
    network.fault = () => ({ body: '<html>Sign in</html>' })
    expect(await readCode(test, 'alice/pdf')).toBe('upstream_failed')
    network.fault = undefined
    expect(await readCode(test, 'acme'), 'what is never asked for is not there').toBe('not_found')
  })

  it('fail if the upstream does not return the files of a listed skill', async () => {
    const { upstream, network, test } = await openPair(open)
    await upstream.publish('pdf')
    network.fault = on(/blobs/, ({ body }) => ({ body: body.toString().replaceAll(/,"content":"[^"]*"/g, '') }))
    expect(await readCode(test, 'alice/pdf')).toBe('upstream_failed')
    network.fault = undefined
    expect(await readCode(test, 'alice/pdf')).toBe('ok')
  })

  it('do not contact an upstream for a while after it fails repeatedly', async () => {
    const { upstream, network, test } = await openPair(open)
    await upstream.publish('pdf')
    network.fault = () => ({ cut: 0 })
    for (let i = 0; i < 3; i++) await readCode(test, 'alice/pdf')
    takePaths(network)
    network.fault = undefined
    expect(await readCode(test, 'alice/pdf')).toBe('upstream_failed')
    expect(takePaths(network)).toEqual([])
    test.clock.advance(30_000)
    expect(await readCode(test, 'alice/pdf')).toBe('ok')
  })

  it('time out after ten seconds, and store a skill that arrives later', async () => {
    const { upstream, network, test } = await openPair(open)
    await upstream.publish('pdf')
    const { promise: held, resolve: goOn } = Promise.withResolvers<undefined>()
    network.fault = () => held
    const waiting = readCode(test, 'alice/pdf')
    await expect.poll(() => network.requests.length, { timeout: 60_000 }).toBeGreaterThan(0)
    test.clock.advance(10_000)
    expect(await waiting).toBe('upstream_timeout')
    goOn(undefined)
    await expect.poll(() => readCode(test, 'alice/pdf'), { timeout: 60_000 }).toBe('ok')
  })

  it('return not found only if a synced upstream lacks the skill', async () => {
    const { upstream, network, mirror, test } = await openPair(open, { mode: 'full' })
    expect(await readCode(test, 'alice/pdf')).toBe('upstream_failed')
    await mirror.sync('main')
    takePaths(network)
    await upstream.publish('pdf')
    expect(await readCode(test, 'alice/pdf')).toBe('not_found')
    expect(takePaths(network)).toEqual([])
  })

  it('import nothing from an upstream of lower priority while an upstream of higher priority is unreachable', async () => {
    const first = await openUpstream(open)
    const second = await openUpstream(open, { origin: 'second.example' })
    await first.publish('pdf', '1.0.0', { body: 'The first.' })
    await second.publish('pdf', '1.0.0', { body: 'The second.' })
    await second.publish('tea')
    const { mirror, test } = await openMirror(open)
    const network = await openWay(first.url)
    await mirror.add('b', second.url, { mode: 'pull-through' })
    await mirror.add('a', network.url, { mode: 'pull-through', priority: 1 })
    network.fault = () => ({ status: 503 })
    expect(await readCode(test, 'alice/pdf')).toBe('upstream_failed')
    network.fault = undefined
    expect((await test.api().getSkill({ name: 'alice/pdf' })).origin.upstream).toBe('a')
    expect((await test.api().getSkill({ name: 'alice/tea' })).origin.upstream).toBe('b')
  })

  it('do not import skills that the filters exclude or that were deleted', async () => {
    const { upstream, network, test } = await openPair(open, { filters: { names: ['alice/t*'] } })
    await upstream.publish('pdf')
    await upstream.publish('tea')
    await upstream.publish('tar')
    await upstream.alice.api.deleteSkill({ name: 'tar' })
    expect(await readCode(test, 'alice/pdf')).toBe('not_found')
    expect(takePaths(network)).toEqual([])
    expect(await readCode(test, 'alice/tar')).toBe('not_found')
    expect(await readCode(test, 'alice/tea')).toBe('ok')
  })

  it('make later syncs update only the requested skills', async () => {
    const { upstream, mirror, test } = await openPair(open)
    await upstream.publish('pdf')
    await upstream.publish('tea')
    await test.api().getSkill({ name: 'alice/pdf' })
    await upstream.publish('pdf', '1.1.0')
    await upstream.publish('tea', '1.1.0')
    expect(await mirror.sync('main')).toMatchObject({ applied: 1 })
    expect((await test.api().getSkill({ name: 'alice/pdf' })).latestVersion).toBe('1.1.0')
    await upstream.alice.api.deleteSkill({ name: 'pdf' })
    await mirror.sync('main')
    expect(await readCode(test, 'alice/pdf')).toBe('not_found')
  })

  it('import nothing from a paused upstream', async () => {
    const { upstream, network, mirror, test } = await openPair(open)
    await upstream.publish('pdf')
    await upstream.publish('tea')
    await test.api().getSkill({ name: 'alice/pdf' })
    const other = await openUpstream(open, { origin: 'other.example' })
    await other.publish('pdf')
    network.leadTo(other.url)
    test.clock.advance(1000)
    expect(await readCode(test, 'alice/tea')).toBe('upstream_failed')
    expect((await mirror.status('main'))[0]!.alarm?.code).toBe('origin')
    takePaths(network)
    expect(await readCode(test, 'alice/tea')).toBe('upstream_failed')
    expect(takePaths(network)).toEqual([])
    expect(await readCode(test, 'alice/pdf')).toBe('ok')
  })

  it('count no downloads at the upstream', async () => {
    const { upstream, test } = await openPair(open)
    await upstream.publish('pdf')
    await test.api().getSkillMd({ name: 'alice/pdf' })
    await partsOf(upstream.test.registry).counters.flush()
    expect((await upstream.test.api().getSkill({ name: 'alice/pdf' })).downloads).toBe(0)
  })
})
