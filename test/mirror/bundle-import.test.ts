import { createMirror, importBundle } from '@skillstead/mirror'
import { expect, it } from 'vitest'
import { refusalOf, skillMd } from '../support/answers.ts'
import { alter, bundleOf, openPublisher } from '../support/bundle-acts.ts'
import { describeDatabases } from '../support/harness.ts'
import { findDamage, readState } from '../support/mirror-state.ts'

describeDatabases('the import of a bundle', (open) => {
  const openAway = () => open({ origin: 'away.example', works: false })

  it('imports the skills as they are at the origin', async () => {
    const origin = await openPublisher(open)
    await origin.publish('tea')
    await origin.publish('tea', '1.1.0', { files: [{ path: 'references/pot.md', content: 'A pot.\n' }] })
    await origin.publish('cake')
    await origin.alice.api.yankVersion({ name: 'alice/tea', version: '1.0.0' })
    const { registry, api } = await openAway()
    const report = await importBundle(registry, await bundleOf(origin))
    expect(report).toMatchObject({
      upstream: 'origin-example',
      origin: 'origin.example',
      applied: 4,
      refusedTotal: 0,
      requests: 0,
      head: 4,
      since: 0,
      until: 4,
      keys: [origin.key],
      isFirstUse: true,
    })
    expect(await readState(registry)).toEqual(await readState(origin.registry))
    expect(await findDamage(registry)).toEqual([])
    const { origin: source } = await api().getSkill({ name: 'alice/tea' })
    expect(source).toMatchObject({ kind: 'mirror', upstream: 'origin-example' })
    const { log } = await api().getProvenance({ name: 'alice/tea' })
    expect(log).toMatchObject({ origin: 'origin.example', treeSize: 4 })
  })

  it('changes nothing if the same bundle is imported again', async () => {
    const origin = await openPublisher(open)
    await origin.publish('tea')
    const file = await bundleOf(origin)
    const { registry, api } = await openAway()
    await importBundle(registry, file)
    const before = await api().getFeed({})
    expect(await importBundle(registry, file)).toMatchObject({
      applied: 0,
      unchanged: 0,
      refusedTotal: 0,
      isFirstUse: false,
    })
    expect(await api().getFeed({})).toEqual(before)
  })

  it('continues after the last imported bundle, accepts overlapping bundles, and ignores an older bundle', async () => {
    const origin = await openPublisher(open)
    const { registry } = await openAway()
    await origin.publish('tea')
    await origin.publish('cake')
    const first = await bundleOf(origin)
    await importBundle(registry, first)
    await origin.publish('jam')
    await origin.alice.api.deleteSkill({ name: 'alice/cake' })
    await importBundle(registry, await bundleOf(origin, { since: 2 }))
    expect(await readState(registry)).toEqual(await readState(origin.registry))
    await origin.publish('milk')
    expect(await importBundle(registry, await bundleOf(origin, { since: 1 }))).toMatchObject({ applied: 1, head: 5 })
    expect(await readState(registry)).toEqual(await readState(origin.registry))
    expect(await importBundle(registry, first)).toMatchObject({ applied: 0, head: 5 })
    expect(await readState(registry)).toEqual(await readState(origin.registry))
  })

  it('rejects a bundle that skips log entries, and reports which bundle is needed', async () => {
    const origin = await openPublisher(open)
    const { registry, api } = await openAway()
    await origin.publish('tea')
    const late = await bundleOf(origin, { since: 1 })
    const { message } = await refusalOf(importBundle(registry, late))
    expect(message).toBe(
      'This bundle starts after entry 1 of origin.example, but this mirror has only 0 entries. Create one with: skillstead bundle create FILE --since 0',
    )
    expect(await createMirror(registry).list()).toEqual([])
    await importBundle(registry, await bundleOf(origin))
    for (const name of ['cake', 'jam', 'milk']) await origin.publish(name)
    const skipping = await refusalOf(importBundle(registry, await bundleOf(origin, { since: 3 })))
    expect(skipping.message).toContain('starts after entry 3 of origin.example, but this mirror has only 1 entries.')
    expect(await api().searchSkills({})).toMatchObject({ total: 1 })
  })

  it('reports content that the bundle omits, and imports this content from a later bundle', async () => {
    const origin = await openPublisher(open)
    const { registry } = await openAway()
    await origin.publish('tea', '1.0.0', { license: 'MIT' })
    await origin.publish('cake', '1.0.0', { license: 'GPL-3.0' })
    await origin.publish('jam', '1.0.0', { license: 'MIT' })
    const report = await importBundle(registry, await bundleOf(origin, { filters: { licenses: ['MIT'] } }))
    expect(report).toMatchObject({
      applied: 2,
      refusedTotal: 1,
      head: 3,
      refused: [{ subject: 'alice/cake@1.0.0', reason: 'not_in_bundle' }],
    })
    const [status] = await createMirror(registry).list()
    expect(status).toMatchObject({ name: 'origin-example', kind: 'bundle', applied: 3, refused: 1 })
    const whole = await bundleOf(origin)
    expect(await importBundle(registry, whole)).toMatchObject({ applied: 0 })
    expect(await importBundle(registry, whole, { full: true })).toMatchObject({
      applied: 1,
      unchanged: 2,
      refusedTotal: 0,
    })
    expect(await readState(registry)).toEqual(await readState(origin.registry))
  })

  it('can be interrupted at any point, and resumes there when it is run again', async () => {
    const origin = await openPublisher(open)
    for (let i = 0; i < 12; i += 1) await origin.publish(`tea-${i % 6}`, `1.${i}.0`)
    const file = await bundleOf(origin)
    const { registry } = await openAway()
    for (let runs = 0; ; runs += 1) {
      const ending = new AbortController()
      let steps = 0
      const onProgress = () => {
        steps += 1
        if (steps > runs) ending.abort()
      }
      const report = await importBundle(registry, file, { signal: ending.signal, onProgress }).catch(() => undefined)
      const state = await readState(registry)
      const whole = await readState(origin.registry)
      expect(whole.map(toIdentity)).toEqual(expect.arrayContaining(state.map(toIdentity)))
      if (report && !ending.signal.aborted) break
      expect(runs).toBeLessThan(200)
    }
    expect(await readState(registry)).toEqual(await readState(origin.registry))
  })

  it('rejects a damaged bundle before importing anything', async () => {
    const origin = await openPublisher(open)
    await origin.publish('tea')
    await origin.publish('cake')
    const file = await alter(origin.registry, await bundleOf(origin), (parts) => {
      parts.at(-1)!.bytes = Buffer.from(parts.at(-1)!.bytes).fill('x', 0, 3)
    })
    const { registry, api } = await openAway()
    expect((await refusalOf(importBundle(registry, file))).message).toMatch(
      /^The bundle is damaged: the blob .* was altered/,
    )
    expect(await api().searchSkills({})).toMatchObject({ total: 0 })
    expect(await createMirror(registry).list()).toEqual([])
  })

  it('imports a version with more files than fit into its log entry', async () => {
    const origin = await openPublisher(open)
    const files = Array.from({ length: 500 }, (_, i) => ({
      path: `references/${'long-'.repeat(20)}${i}.md`,
      content: `${i % 7}`,
    }))
    await origin.alice.api.publishSkill({ skillMd: skillMd('book'), files })
    const { registry } = await openAway()
    expect(await importBundle(registry, await bundleOf(origin))).toMatchObject({ applied: 1, refusedTotal: 0 })
    expect(await readState(registry)).toEqual(await readState(origin.registry))
  })
})

function toIdentity(row: string): string {
  const { full_name, version, digest } = JSON.parse(row) as Record<string, string>
  return `${full_name}@${version} ${digest}`
}
