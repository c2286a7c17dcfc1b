import { verifyProvenance } from '@skillstead/client/verify'
import { createBundle, importBundle, type ImportBundleOptions } from '@skillstead/mirror'
import { expect, it } from 'vitest'
import { refusalOf } from '../support/answers.ts'
import { adoptKeys, alter, makeFile, openPublisher, type Publisher } from '../support/bundle-acts.ts'
import { describeInTurn, type Open, type TestRegistry } from '../support/harness.ts'

/** A node, and the one that is built in its place after it was lost: its name and keys, but another log and other ids. */
async function openLost(open: Open) {
  const lost = await openPublisher(open)
  const rebuilt = await openPublisher(open)
  await adoptKeys(lost, rebuilt)
  const mirror = await open({ origin: 'mirror.example', works: false })
  return { lost, rebuilt, mirror }
}

async function importBundleOf(
  { registry }: Pick<Publisher, 'registry'>,
  to: TestRegistry,
  { epoch = 1, ...options }: ImportBundleOptions & { epoch?: number } = {},
) {
  const file = await makeFile()
  await createBundle(registry, file)
  const ofEpoch = epoch === 1 ? file : await alter(registry, file, (_, header) => void (header.epoch = epoch))
  return importBundle(to.registry, ofEpoch, options)
}

describeInTurn('the mirror of a node that was rebuilt under a new epoch', (open) => {
  it('updates its stored skills after the operator accepts the new epoch', async () => {
    const { lost, rebuilt, mirror } = await openLost(open)
    for (const version of ['1.0.0', '1.1.0']) await lost.publish('tea', version)
    await lost.publish('cake')
    await lost.publish('only-there')
    await importBundleOf(lost, mirror)
    const { id } = await mirror.api().getSkill({ name: 'alice/tea' })
    for (const version of ['1.0.0', '1.1.0', '2.0.0']) await rebuilt.publish('tea', version)
    await rebuilt.publish('cake')
    await rebuilt.publish('milk')
    expect((await refusalOf(importBundleOf(rebuilt, mirror, { epoch: 2 }))).message).toContain('(epoch)')
    expect(await importBundleOf(rebuilt, mirror, { epoch: 2, accept: 'epoch' })).toMatchObject({
      refusedTotal: 0,
      head: 5,
    })
    expect((await mirror.api().searchSkills({})).total).toBe(4)
    expect(await mirror.api().getSkill({ name: 'alice/tea' })).toMatchObject({ id, latestVersion: '2.0.0' })
    for (const [name, version] of [
      ['alice/tea', '1.0.0'],
      ['alice/tea', '2.0.0'],
      ['alice/cake', '1.0.0'],
    ] as const) {
      const record = await mirror.api().getProvenance({ name, version })
      expect(verifyProvenance(record, { keys: [rebuilt.key, lost.key] })).toMatchObject({ ok: true })
    }
  })

  it("applies removals from the rebuilt node's log", async () => {
    const { lost, rebuilt, mirror } = await openLost(open)
    for (const { publish } of [lost, rebuilt]) {
      for (const version of ['1.0.0', '1.1.0']) await publish('tea', version)
      await publish('cake')
    }
    await importBundleOf(lost, mirror)
    await refusalOf(importBundleOf(rebuilt, mirror, { epoch: 2 }))
    await rebuilt.alice.api.yankVersion({ name: 'alice/tea', version: '1.0.0' })
    expect(await importBundleOf(rebuilt, mirror, { epoch: 2, accept: 'epoch' })).toMatchObject({ refusedTotal: 0 })
    await rebuilt.alice.api.deleteSkill({ name: 'alice/cake' })
    expect(await importBundleOf(rebuilt, mirror, { epoch: 2 })).toMatchObject({ applied: 1, removed: 1 })
    const { versions } = await mirror.api().listVersions({ name: 'alice/tea' })
    expect(versions.map(({ version, yanked }) => [version, yanked])).toEqual([
      ['1.1.0', false],
      ['1.0.0', true],
    ])
    expect((await mirror.api().searchSkills({})).total).toBe(1)
  })

  it('pauses before it applies entries of the rebuilt node that hide many skills at once', async () => {
    const { lost, rebuilt, mirror } = await openLost(open)
    for (const { publish } of [lost, rebuilt]) for (let i = 0; i < 7; i += 1) await publish(`tea-${i}`)
    await importBundleOf(lost, mirror)
    await refusalOf(importBundleOf(rebuilt, mirror, { epoch: 2 }))
    await importBundleOf(rebuilt, mirror, { epoch: 2, accept: 'epoch' })
    for (let i = 0; i < 7; i += 1) await rebuilt.alice.api.deleteSkill({ name: `alice/tea-${i}` })
    expect((await refusalOf(importBundleOf(rebuilt, mirror, { epoch: 2 }))).message).toContain('(mass_removal)')
    expect((await mirror.api().searchSkills({})).total).toBe(7)
  })

  it('relays skills under their old ids, but creates bundles with the ids of the rebuilt node', async () => {
    const { lost, rebuilt, mirror } = await openLost(open)
    await lost.publish('tea')
    await importBundleOf(lost, mirror)
    const [far, inside] = [await open({ origin: 'far.example' }), await open({ origin: 'inside.example' })]
    await importBundleOf(mirror, far)
    for (const version of ['1.0.0', '1.1.0']) await rebuilt.publish('tea', version)
    await refusalOf(importBundleOf(rebuilt, mirror, { epoch: 2 }))
    await importBundleOf(rebuilt, mirror, { epoch: 2, accept: 'epoch' })
    expect(await importBundleOf(mirror, far)).toMatchObject({ refusedTotal: 0, applied: 2 })
    expect((await far.api().getSkill({ name: 'alice/tea' })).latestVersion).toBe('1.1.0')
    const file = await makeFile()
    const { header } = await createBundle(mirror.registry, file, { upstream: 'origin-example' })
    expect(header.counts).toMatchObject({ versions: 2, complete: 2 })
    await importBundle(inside.registry, file, { keys: [lost.key] })
    const { id } = await inside.api().getSkill({ name: 'alice/tea' })
    expect(id).toBe((await rebuilt.test.api().getSkill({ name: 'alice/tea' })).id)
  })
})
