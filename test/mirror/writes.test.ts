import { partsOf } from '@skillstead/core/internal'
import { afterEach, expect, it } from 'vitest'
import { describeDatabases } from '../support/harness.ts'
import { endMirrors } from '../support/mirror-harness.ts'
import { expectSame, openPair, type WritingPair } from '../support/mirror-writes-acts.ts'
import { on } from '../support/network.ts'

const opened: WritingPair[] = []
afterEach(async () => {
  await endMirrors()
  for (const pair of opened.splice(0)) await pair.close()
})

describeDatabases("a change on a mirror of an upstream's skill", (open) => {
  const openOne = async (options?: Parameters<typeof openPair>[1]) => {
    const pair = await openPair(open, options)
    opened.push(pair)
    return pair
  }

  it('reaches the upstream when it responds again, in order and unchanged', async () => {
    const pair = await openOne()
    const { upstream, mirrored, ann } = pair
    pair.unplug()
    await pair.write('tea', '1.0.0')
    await pair.write('tea', '1.1.0', 'Does more.')
    await ann.api.publishSkill({ name: 'tea', deprecated: true, deprecationMessage: 'Use coffee' })
    await ann.api.forkSkill({ name: 'alice/pdf', newName: 'my-pdf' })
    await ann.api.createReview({ name: 'alice/pdf', rating: 4, title: 'Good', body: 'It reads.' })
    await ann.api.starSkill({ name: 'alice/pdf' })
    await mirrored.test.api().track({ skillName: 'alice/pdf' })
    await mirrored.test.api().track({ skillName: 'pdf' })
    expect(await pair.deliver()).toEqual({ delivered: 0, waiting: 7, inConflict: 0 })
    expect(await pair.waiting()).toEqual([
      'publish ann/tea@1.0.0: pending (upstream_failed)',
      'publish ann/tea@1.1.0: pending',
      'publish ann/tea: pending',
      'fork ann/my-pdf@1.0.0: pending (upstream_failed)',
      'review alice/pdf: pending (upstream_failed)',
      'star alice/pdf: pending',
      'track alice/pdf: pending',
    ])
    pair.plugIn()
    mirrored.test.clock.advance(60_000)
    expect(await pair.deliver()).toEqual({ delivered: 7, waiting: 0, inConflict: 0 })
    await expectSame(upstream, 'alice/tea', mirrored, 'ann/tea')
    await expectSame(upstream, 'alice/my-pdf', mirrored, 'ann/my-pdf')
    const tea = await upstream.test.api().getSkill({ name: 'alice/tea' })
    expect(tea).toMatchObject({ latestVersion: '1.1.0', deprecated: true, deprecationMessage: 'Use coffee' })
    expect(await upstream.test.api().getSkill({ name: 'alice/my-pdf' })).toMatchObject({
      forkedFrom: { fullName: 'alice/pdf', version: '1.0.0' },
    })
    expect((await upstream.test.api().listReviews({ name: 'alice/pdf' })).reviews).toMatchObject([{ rating: 4 }])
    expect(await upstream.test.api().getSkill({ name: 'alice/pdf' })).toMatchObject({ stars: 1 })
    expect(mirrored.errors).toEqual([])
  })

  it('is sent by the outbox, and right after the next successful sync if the upstream was unreachable', async () => {
    const pair = await openOne({ works: true })
    const { upstream, mirrored } = pair
    await pair.write('tea')
    await expect
      .poll(() =>
        upstream.test
          .api()
          .getSkill({ name: 'alice/tea' })
          .catch(() => null),
      )
      .toBeTruthy()
    pair.unplug()
    await pair.write('tea', '1.1.0')
    await expect.poll(pair.waiting).toEqual(['publish ann/tea@1.1.0: pending (upstream_failed)'])
    pair.plugIn()
    // The clock stands still, so that nothing but the sync brings it forward.
    await mirrored.mirror.sync('main')
    await expect.poll(pair.waiting).toEqual([])
    expect(await upstream.test.api().getSkill({ name: 'alice/tea' })).toMatchObject({ latestVersion: '1.1.0' })
  })

  it('takes effect once, even if the response was lost and the change was sent again', async () => {
    const pair = await openOne()
    const { upstream, network, ann, mirrored } = pair
    await ann.api.forkSkill({ name: 'alice/pdf', newName: 'my-pdf' })
    await pair.write('tea')
    await ann.api.createReview({ name: 'alice/pdf', rating: 4, title: 'Good', body: 'It reads.' })
    await ann.api.starSkill({ name: 'alice/pdf' })
    network.fault = ({ method }) => (method === 'GET' ? undefined : { cut: 0 })
    expect(await pair.deliver()).toMatchObject({ delivered: 0, waiting: 4 })
    network.fault = undefined
    mirrored.test.clock.advance(60_000)
    expect(await pair.deliver()).toEqual({ delivered: 4, waiting: 0, inConflict: 0 })
    const entries = (await upstream.test.api().getFeed({})).entries.map(({ type, subject }) => `${type} ${subject}`)
    expect(entries.toSorted()).toEqual(['my-pdf', 'pdf', 'tea'].map((name) => `version alice/${name}@1.0.0`))
    expect(await upstream.test.api().getSkill({ name: 'alice/pdf' })).toMatchObject({ stars: 1, forks: 1 })
  })

  it('takes effect once, even if the upstream no longer stores its response', async () => {
    const pair = await openOne()
    const { upstream, network, ann, mirrored } = pair
    await ann.api.forkSkill({ name: 'alice/pdf', newName: 'my-pdf' })
    await pair.write('tea')
    network.fault = on(/fork|\/skills$/, () => ({ cut: 0 }))
    await pair.deliver()
    network.fault = undefined
    // And something newer came between, of which another fork would be made.
    await upstream.publish('pdf', '2.0.0')
    await partsOf(upstream.test.registry).database.writer.write((trx) => trx.deleteFrom('idempotent_answers').execute())
    mirrored.test.clock.advance(60_000)
    expect(await pair.deliver()).toEqual({ delivered: 2, waiting: 0, inConflict: 0 })
    expect((await upstream.test.api().searchSkills({ owner: 'alice' })).skills).toHaveLength(3)
  })

  it('stays pending in offline mode, without an error', async () => {
    const pair = await openOne()
    const { mirrored, network } = pair
    await mirrored.mirror.close()
    const { createMirror } = await import('@skillstead/mirror')
    const offline = createMirror(mirrored.test.registry, { mode: 'offline' })
    const before = network.requests.length
    await pair.write('tea')
    await expect(offline.outbox.deliver()).rejects.toMatchObject({ code: 'offline' })
    expect(await offline.outbox.list()).toMatchObject([{ state: 'pending', attempts: 0, problem: null }])
    expect(network.requests).toHaveLength(before)
    await offline.close()
  })

  it("causes no conflict when the next sync imports the change from the upstream's log", async () => {
    const pair = await openOne({ user: 'alice-again' })
    // The same name here as there.
    const { mirrored, upstream } = pair
    const alice = await mirrored.test.makeUser('alice')
    await mirrored.mirror.accounts.link('alice', 'main', upstream.alice.key)
    const skillMd = '---\nname: tea\ndescription: Makes tea\n---\n# Tea\n'
    await alice.api.publishSkill({ skillMd, version: '1.0.0' })
    await alice.api.publishSkill({
      skillMd: skillMd.replace('tea\n', 'pdf\n').replace(/tea/i, 'pdf'),
      name: 'pdf',
      version: '1.1.0',
    })
    expect(await pair.deliver()).toEqual({ delivered: 2, waiting: 0, inConflict: 0 })
    const report = await mirrored.mirror.sync('main')
    expect(report).toMatchObject({ refusedTotal: 0 })
    expect(await upstream.test.api().getSkill({ name: 'alice/pdf' })).toMatchObject({ latestVersion: '1.1.0' })
    expect(await mirrored.test.api().getSkill({ name: 'alice/tea' })).toMatchObject({
      versions: [{ version: '1.0.0' }],
    })
    expect(await pair.waiting()).toEqual([])
  })
})
