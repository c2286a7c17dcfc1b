import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { describeApi, describeInTurn } from '../support/harness.ts'
import { endMirrors, openMirror } from '../support/mirror-harness.ts'
import { openPair, readCode, takePaths, watchSockets } from '../support/mirror-reading-acts.ts'

afterEach(endMirrors)

describeApi('the mode `online`', (open) => {
  const online = { mode: 'online' } as const

  it('contacts the upstream first, and shows new versions at once', async () => {
    const { upstream, mirror, test } = await openPair(open, { mode: 'full' }, online)
    await upstream.publish('pdf')
    await mirror.sync('main')
    await upstream.publish('pdf', '1.1.0')
    await upstream.publish('tea')
    test.clock.advance(1000)
    expect((await test.api().getSkill({ name: 'alice/pdf' })).latestVersion).toBe('1.1.0')
    expect((await test.api().getSkill({ name: 'alice/tea' })).latestVersion).toBe('1.0.0')
    await upstream.publish('tar')
    test.clock.advance(1000)
    expect((await test.api().searchSkills({})).total).toBe(3)
    await upstream.publish('zip')
    expect(await readCode(test, 'alice/zip'), 'on a miss it is asked again').toBe('ok')
  })

  it('sends no request for content that never changes', async () => {
    const { upstream, network, mirror, test } = await openPair(open, { mode: 'full' }, online)
    await upstream.publish('pdf')
    await mirror.sync('main')
    test.clock.advance(60_000)
    takePaths(network)
    const api = test.api()
    await api.getSkillMd({ name: 'alice/pdf', version: '1.0.0' })
    await api.getVersion({ name: 'alice/pdf', version: '1.0.0' })
    await api.loadSkill({ name: 'pdf', version: '1.0.0', level: 'full' })
    const { files } = await api.getVersion({ name: 'alice/pdf', version: '1.0.0' })
    await api.getBlob({ digest: files[0]!.digest })
    expect(takePaths(network)).toEqual([])
  })

  it('sends no request for skills of this node', async () => {
    const { network, mirror, test } = await openPair(open, { mode: 'full' }, online)
    await mirror.sync('main')
    const bob = await test.makeUser('bob')
    await bob.api.publishSkill({ skillMd: '---\nname: mine\ndescription: Mine\n---\nMine.\n' })
    test.clock.advance(60_000)
    takePaths(network)
    expect(await readCode(test, 'bob/mine')).toBe('ok')
    expect(takePaths(network)).toEqual([])
  })

  it('falls back to the stored skill if the upstream does not respond within two seconds', async () => {
    const { upstream, network, mirror, test } = await openPair(open, { mode: 'full' }, online)
    await upstream.publish('pdf')
    await mirror.sync('main')
    test.clock.advance(1000)
    network.fault = () => ({ cut: 0 })
    expect(await readCode(test, 'alice/pdf')).toBe('ok')
    const { promise: held, resolve: goOn } = Promise.withResolvers<undefined>()
    network.fault = () => held
    takePaths(network)
    const waiting = readCode(test, 'alice/pdf')
    await expect.poll(() => network.requests.length, { timeout: 60_000 }).toBeGreaterThan(0)
    test.clock.advance(2000)
    expect(await waiting).toBe('ok')
    goOn(undefined)
  })
})

describeApi('the mode `prefer-local`', (open) => {
  it('responds from the mirror, and refreshes in the background when the schedule is due', async () => {
    const { upstream, network, mirror, test } = await openPair(open, { mode: 'full', everySeconds: 60 })
    await upstream.publish('pdf')
    await mirror.sync('main')
    await upstream.publish('pdf', '1.1.0')
    takePaths(network)
    test.clock.advance(60_000)
    const read = async () => (await test.api().getSkill({ name: 'alice/pdf' })).latestVersion
    expect(await read()).toBe('1.0.0')
    expect(takePaths(network)).toEqual([])
    test.clock.advance(1)
    expect(new Set(await Promise.all(Array.from({ length: 20 }, read)))).toContain('1.0.0')
    await expect.poll(read, { timeout: 60_000 }).toBe('1.1.0')
    expect(takePaths(network), 'one refresh for all').toEqual(['GET /feed?since=1&limit=1000', 'POST /blobs/batch'])
  })

  it('refreshes nothing in the background if there is no schedule', async () => {
    const { upstream, network, mirror, test } = await openPair(open, { mode: 'full', everySeconds: 0 })
    await upstream.publish('pdf')
    await mirror.sync('main')
    takePaths(network)
    test.clock.advance(1_000_000_000)
    await test.api().getSkill({ name: 'alice/pdf' })
    await test.api().searchSkills({})
    expect(await readCode(test, 'alice/tea')).toBe('not_found')
    expect(takePaths(network)).toEqual([])
  })
})

describeApi('the mode `offline`', (open) => {
  it('returns stored skills, and the error offline for skills that the upstream may have', async () => {
    const first = await openPair(open)
    await first.upstream.publish('pdf')
    await first.test.api().getSkill({ name: 'alice/pdf' })
    await first.mirror.close()
    const { test, mirror } = await openMirror(
      open,
      { mode: 'offline', privateNames: ['acme/*'] },
      { at: first.test.location },
    )
    await mirror.list()
    takePaths(first.network)
    expect(await readCode(test, 'alice/pdf')).toBe('ok')
    expect(await readCode(test, 'alice/tea')).toBe('offline')
    expect(await readCode(test, 'acme/tea')).toBe('not_found')
    await expect(mirror.sync('main')).rejects.toMatchObject({ code: 'offline' })
    expect(takePaths(first.network)).toEqual([])
  })
})

describeInTurn('a mirror without a network', (open) => {
  it('opens no socket', async () => {
    let connections = 0
    const listener = createServer((socket) => {
      connections += 1
      socket.destroy()
    }).listen(0, '127.0.0.1')
    await once(listener, 'listening')
    onTestFinished(() => void listener.close())
    const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`

    const asked: unknown[] = []
    const { test, mirror, errors } = await openMirror(open, {
      mode: 'offline',
      fetch: async (input) => {
        asked.push(input)
        throw new TypeError('There is no network.')
      },
    })
    const bob = await test.makeUser('bob')
    await bob.api.publishSkill({ skillMd: '---\nname: mine\ndescription: Mine\n---\nMine.\n' })
    await mirror.add('main', url, { mode: 'pull-through', everySeconds: 1 })
    await mirror.add('all', url, { priority: 1, filters: { owners: ['unknown-user'] } })
    await mirror.add('spec', url, { kind: 'registry' })
    await mirror.add('index', `${url}/.well-known/agent-skills/index.json`, { kind: 'discovery' })
    await mirror.add('git', `${url}/x.git`, { kind: 'git' })

    const opened = watchSockets(test)
    const globalFetch = vi.spyOn(globalThis, 'fetch')
    onTestFinished(() => globalFetch.mockRestore())

    for (const { name } of await mirror.list()) {
      await expect(mirror.sync(name), name).rejects.toMatchObject({ code: 'offline' })
    }
    mirror.start()
    for (let i = 0; i < 3; i++) {
      test.clock.advance(1_000_000)
      expect(await readCode(test, 'bob/mine')).toBe('ok')
      expect(await readCode(test, 'mine')).toBe('ok')
      expect(await readCode(test, 'alice/pdf')).toBe('offline')
      expect((await test.api().searchSkills({ q: 'mine' })).total).toBe(1)
      await test.api().loadSkill({ name: 'bob/mine', level: 'full' })
      await test.api().heartbeat({ installedSkills: [{ skillName: 'bob/mine', version: '1.0.0' }], platform: 'x' })
    }
    expect({ opened, asked, connections, errors }).toEqual({ opened: [], asked: [], connections: 0, errors: [] })
    expect(globalFetch).not.toHaveBeenCalled()
  })
})
