import { partsOf, rotateKey } from '@skillstead/core/internal'
import { createMirror, importBundle } from '@skillstead/mirror'
import { afterEach, expect, it } from 'vitest'
import { refusalOf } from '../support/answers.ts'
import { adoptKeys, bundleOf, openPublisher } from '../support/bundle-acts.ts'
import { describeInTurn } from '../support/harness.ts'
import { readState } from '../support/mirror-state.ts'
import { endMirrors, openUpstream } from '../support/mirror-harness.ts'

afterEach(endMirrors)

describeInTurn('the import of bundles from different sources', (open) => {
  const openAway = () => open({ origin: 'away.example', works: false })

  it('trusts only the key that the operator passed, or else the key of the first bundle', async () => {
    const origin = await openPublisher(open)
    const impostor = await openPublisher(open)
    await origin.publish('tea')
    await impostor.publish('evil')
    const { registry, api } = await openAway()
    const pinned = await refusalOf(importBundle(registry, await bundleOf(impostor), { keys: [origin.key] }))
    expect(pinned.message).toMatch(/^The signature of the bundle is by the key .*, which is not among the given keys/)
    expect(await createMirror(registry).list()).toEqual([])
    expect(await importBundle(registry, await bundleOf(origin), { keys: [origin.key] })).toMatchObject({
      isFirstUse: false,
      keys: [origin.key],
    })
    await refusalOf(importBundle(registry, await bundleOf(impostor)))
    expect(await api().searchSkills({})).toMatchObject({ total: 1 })
  })

  it('trusts a new key if the old key endorses it or the operator passes it', async () => {
    const origin = await openPublisher(open)
    const { registry } = await openAway()
    await origin.publish('tea')
    await importBundle(registry, await bundleOf(origin))
    await rotateKey(partsOf(origin.registry))
    await origin.publish('cake')
    const keys = (await origin.registry.verifierKeys()).map(({ vkey }) => vkey)
    expect((await importBundle(registry, await bundleOf(origin))).keys.toSorted()).toEqual(keys.toSorted())
    await rotateKey(partsOf(origin.registry), { overlapMs: 0 })
    await rotateKey(partsOf(origin.registry), { overlapMs: 0 })
    await origin.publish('jam')
    const file = await bundleOf(origin)
    const { message } = await refusalOf(importBundle(registry, file))
    expect(message).toMatch(
      /If the node changed its key, compare the new key with its operator, and pass it with --key\.$/,
    )
    const [newest] = await origin.registry.verifierKeys()
    expect(await importBundle(registry, file, { keys: [newest!.vkey] })).toMatchObject({
      applied: 1,
      keys: [newest!.vkey],
    })
  })

  it('never overwrites skills that users published on the importing node', async () => {
    const origin = await openPublisher(open)
    const away = await openPublisher(open, { origin: 'away.example' })
    await origin.publish('tea')
    await away.publish('tea', '1.0.0', { body: 'Ours.' })
    const report = await importBundle(away.registry, await bundleOf(origin))
    expect(report).toMatchObject({ applied: 0, refused: [{ subject: 'alice/tea@1.0.0', reason: 'owned_locally' }] })
  })

  it('continues where a sync over the network ended, and a sync continues where an import ended', async () => {
    const origin = await openUpstream(open, { origin: 'origin.example' })
    const publisher = { registry: origin.test.registry }
    const { registry } = await openAway()
    const mirror = createMirror(registry)
    await mirror.add('main', origin.url)
    await origin.publish('tea')
    await mirror.sync('main')
    await origin.publish('cake')
    expect(await importBundle(registry, await bundleOf(publisher, { since: 1 }))).toMatchObject({
      upstream: 'main',
      applied: 1,
    })
    await origin.publish('jam')
    expect(await mirror.sync('main')).toMatchObject({ applied: 1, head: 3 })
    expect(await mirror.list()).toHaveLength(1)
    await mirror.close()
    expect(await readState(registry)).toEqual(await readState(origin.test.registry))
  })

  it('accepts a new key only with a bundle that contains all stored log entries', async () => {
    const origin = await openUpstream(open, { origin: 'origin.example' })
    const publisher = { registry: origin.test.registry }
    const [first, second] = [await openPublisher(open), await openPublisher(open)]
    await adoptKeys(second, publisher)
    await origin.publish('tea')
    const older = await bundleOf(publisher)
    await adoptKeys(first, publisher)
    await origin.publish('cake')
    const { registry } = await openAway()
    const mirror = createMirror(registry)
    await mirror.add('main', origin.url)
    await mirror.sync('main')
    await adoptKeys(second, publisher)
    await origin.publish('jam')
    await refusalOf(mirror.sync('main'))
    const [before] = await mirror.status('main')
    expect(before).toMatchObject({ alarm: { code: 'key', keys: [second.key] }, keys: [first.key], verified: 2 })
    const { code, message } = await refusalOf(importBundle(registry, older, { accept: 'key', keys: [second.key] }))
    expect([code, message]).toEqual([
      'conflict',
      "The key of 'main' is unchanged: this copy ends at entry 1 of origin.example, and the mirror has 2. Accept the new key with a newer copy, which `skillstead bundle create` makes, or with a sync over the network.",
    ])
    const { alarm, keys, settings } = before!
    expect((await mirror.status('main'))[0]).toMatchObject({ alarm, keys, settings, verified: 2 })
    const newer = await bundleOf(publisher)
    expect(await importBundle(registry, newer, { accept: 'key', keys: [second.key] })).toMatchObject({
      applied: 1,
      keys: [second.key],
    })
    expect((await mirror.status('main'))[0]).toMatchObject({ alarm: null, settings: { pinned: true } })
    await mirror.close()
  })

  it('accepts bundles of a mirror, and records for each entry the log that contained it first', async () => {
    const origin = await openPublisher(open)
    await origin.publish('tea')
    const middle = await open({ origin: 'middle.example', works: false })
    await importBundle(middle.registry, await bundleOf(origin))
    const { registry, api } = await openAway()
    expect(await importBundle(registry, await bundleOf(middle))).toMatchObject({
      upstream: 'middle-example',
      applied: 1,
    })
    const { entries } = await api().getFeed({})
    expect(entries[0]!.data).toMatchObject({ origin: { origin: 'origin.example', seq: 1 } })
    const own = await refusalOf(importBundle(origin.registry, await bundleOf(origin)))
    expect(own.message).toBe("This bundle was created from this node's own log. There is nothing to import.")
  })

  it('adds a separate upstream for each origin, named after the origin', async () => {
    const [origin, other] = [await openPublisher(open), await openPublisher(open, { origin: 'other.example' })]
    await origin.publish('tea')
    await other.publish('cake')
    const { registry } = await openAway()
    expect(await importBundle(registry, await bundleOf(origin), { name: 'main' })).toMatchObject({ upstream: 'main' })
    const { code, message } = await refusalOf(importBundle(registry, await bundleOf(other), { name: 'main' }))
    expect([code, message]).toEqual([
      'name_taken',
      "This bundle is of other.example, but the upstream 'main' is origin.example. Choose another name with --name.",
    ])
    await origin.publish('jam')
    expect(await importBundle(registry, await bundleOf(origin, { since: 1 }))).toMatchObject({ upstream: 'main' })
    expect(await refusalOf(createMirror(registry).sync('main'))).toMatchObject({ code: 'invalid_request' })
  })

  it('pauses if the origin signed two different histories, and the node still serves the first history', async () => {
    const origin = await openPublisher(open)
    const { registry, api } = await openAway()
    await origin.publish('tea')
    await importBundle(registry, await bundleOf(origin))
    // As after a backup was put back without saying so: the same key, another second entry.
    const restored = await openPublisher(open)
    await adoptKeys(origin, restored)
    for (const name of ['coffee', 'cake', 'jam']) await restored.publish(name)
    const file = await bundleOf(restored, { since: 1 })
    const { code, message } = await refusalOf(importBundle(registry, file))
    expect([code, message]).toEqual(['conflict', expect.stringContaining('(fork)')])
    expect(await api().searchSkills({})).toMatchObject({ total: 1 })
    const [status] = await createMirror(registry).list()
    expect(status).toMatchObject({ state: 'stopped', alarm: { code: 'fork' } })
    const again = await refusalOf(importBundle(registry, await bundleOf(origin)))
    expect(again.message).toContain('`skillstead bundle import FILE --name origin-example --accept fork`')
    expect(await importBundle(registry, await bundleOf(origin), { accept: 'fork' })).toMatchObject({ unchanged: 1 })
  })
})
