import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { partsOf } from '@skillstead/core/internal'
import { afterEach, expect, it, onTestFinished } from 'vitest'
import { describeInTurn } from '../support/harness.ts'
import { endMirrors, openMirror, openUpstream } from '../support/mirror-harness.ts'
import { openWay, readCode, takePaths } from '../support/mirror-reading-acts.ts'
import { on } from '../support/network.ts'
import { openSpecRegistry } from '../support/spec-registry.ts'

afterEach(endMirrors)

describeInTurn('requests for skills of an upstream without a log', (open) => {
  it('read only the requested skill from a registry that has only the base API', async () => {
    const { mirror, test } = await openMirror(open)
    const upstream = await openSpecRegistry(() => test.clock.now())
    upstream.put('ann', 'pdf', { version: '2.1.0' })
    upstream.put('ann', 'tea')
    await mirror.add('far', upstream.url, { kind: 'registry', mode: 'pull-through' })
    const pdf = await test.api().getSkill({ name: 'ann/pdf' })
    expect(pdf).toMatchObject({ latestVersion: '2.1.0', origin: { kind: 'mirror', upstream: 'far' } })
    expect(upstream.takeRequests()).toEqual(['/skills/pdf', '/skills/pdf/skill.md', '/skills/pdf'])
    expect(await readCode(test, 'bob/pdf'), 'the one of that name is another one').toBe('not_found')
    expect(await readCode(test, 'ann/gone')).toBe('not_found')
    expect(await readCode(test, 'ann/gone')).toBe('not_found')
    expect(upstream.takeRequests()).toEqual(['/skills/pdf', '/skills/gone'])
    Object.assign(upstream.skills[0]!, { version: '2.2.0', publishedAt: test.clock.now() + 1000 })
    upstream.put('ann', 'tar')
    await mirror.sync('far')
    expect((await test.api().getSkill({ name: 'ann/pdf' })).latestVersion, 'what is here is followed').toBe('2.2.0')
    expect((await test.api().searchSkills({})).total, 'and nothing else').toBe(1)
    upstream.rate = 0
    expect(await readCode(test, 'ann/tea'), 'a limit of requests is a failure too').toBe('upstream_failed')
  })

  it('update the freshness of the requested skill only, and do not postpone the scheduled sync', async () => {
    const { mirror, test } = await openMirror(open)
    const upstream = await openSpecRegistry(() => test.clock.now())
    upstream.put('ann', 'pdf')
    upstream.put('ann', 'tea')
    await mirror.add('far', upstream.url, { kind: 'registry', mode: 'pull-through', everySeconds: 60 })
    expect(await readCode(test, 'ann/pdf')).toBe('ok')
    test.clock.advance(50_000)
    expect(await readCode(test, 'ann/tea')).toBe('ok')
    const ageOf = async (name: string) => (await partsOf(test.registry).upstreams.port!.freshness(name))!.ageSeconds
    expect([await ageOf('ann/pdf'), await ageOf('ann/tea')]).toEqual([50, 0])
    expect(await mirror.status('far')).toMatchObject([{ triedAt: null, syncedAt: null }])
    await mirror.sync('far')
    const [synced] = await mirror.status('far')
    test.clock.advance(30_000)
    expect(await readCode(test, 'ann/tar')).toBe('not_found')
    expect(await mirror.status('far')).toMatchObject([{ nextAt: synced!.nextAt, syncedAt: synced!.syncedAt }])
    expect([await ageOf('ann/pdf'), await ageOf('ann/tea')]).toEqual([30, 30])
  })

  it('return an error for a listed skill that the registry does not return, and still read other skills', async () => {
    const { mirror, test } = await openMirror(open)
    const upstream = await openSpecRegistry(() => test.clock.now())
    upstream.put('ann', 'pdf')
    upstream.put('ann', 'tea')
    const network = await openWay(upstream.url)
    await mirror.add('far', network.url, { kind: 'registry', mode: 'pull-through' })
    network.fault = on(/pdf\/skill\.md/, () => ({ headers: { 'content-type': 'text/html' }, body: '<html>Sign in' }))
    for (let i = 0; i < 4; i += 1) expect(await readCode(test, 'ann/pdf')).toBe('upstream_failed')
    expect(await readCode(test, 'ann/tea')).toBe('ok')
    expect(await partsOf(test.registry).upstreams.port!.freshness('ann/tea')).toMatchObject({ stale: false })
    let moves = 1
    network.fault = on(/pdf\/skill\.md/, () => {
      if (moves-- > 0) upstream.skills[0]!.version = '1.1.0'
      return undefined
    })
    expect(await readCode(test, 'ann/pdf'), 'published as it was read').toBe('ok')
    expect((await test.api().getSkill({ name: 'ann/pdf' })).latestVersion).toBe('1.1.0')
  })

  it('read only the requested skill from a discovery index', async () => {
    const node = await openUpstream(open)
    await node.publish('pdf')
    await node.publish('tea')
    const network = await openWay(node.url)
    const { mirror, test } = await openMirror(open)
    const filters = { owners: ['alice'] }
    await mirror.add('index', `${network.url}/alice`, { kind: 'discovery', mode: 'pull-through', filters })
    expect(await readCode(test, 'alice/pdf')).toBe('ok')
    await mirror.sync('index')
    expect((await test.api().searchSkills({})).total).toBe(1)
    takePaths(network)
    expect(await readCode(test, 'alice/tea')).toBe('ok')
    expect((await test.api().searchSkills({})).total).toBe(2)
    network.fault = () => ({ cut: 0 })
    expect(await readCode(test, 'alice/tar')).toBe('upstream_failed')
  })

  it('read skills from a folder, even without a network', async () => {
    const place = await mkdtemp(join(tmpdir(), 'skillstead-folder-'))
    onTestFinished(() => rm(place, { recursive: true }))
    const folder = join(place, 'disk')
    for (const name of ['pdf', 'tea']) {
      await mkdir(join(folder, name), { recursive: true })
      await writeFile(join(folder, name, 'SKILL.md'), `---\nname: ${name}\ndescription: Does ${name}\n---\nDoes it.\n`)
    }
    const { mirror, test } = await openMirror(open, { mode: 'offline' })
    await mirror.add('disk', folder, { kind: 'folder', mode: 'pull-through' })
    expect(await readCode(test, 'disk/pdf')).toBe('ok')
    expect((await test.api().searchSkills({})).total).toBe(1)
    expect(await readCode(test, 'disk/tea')).toBe('ok')
    expect(await readCode(test, 'disk/tar')).toBe('not_found')
  })
})
