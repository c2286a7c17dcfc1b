import { readVerifierKeys, rotateKey } from '@skillstead/core'
import { createBundle, createMirror, importBundle } from '@skillstead/mirror'
import { afterEach, expect, it } from 'vitest'
import { refusalOf, skillMd } from './answers.ts'
import { alter, makeFile, openPublisher, type Publisher } from './bundle-acts.ts'
import { describeDatabases } from './harness.ts'
import { findDamage, readState } from './mirror-state.ts'
import { endMirrors, openUpstream } from './mirror-harness.ts'

afterEach(endMirrors)

/** A bundle of what a publisher has, or had after a position. */
async function bundleOf({ registry }: Pick<Publisher, 'registry'>, options: Parameters<typeof createBundle>[2] = {}) {
  const file = await makeFile()
  await createBundle(registry, file, options)
  return file
}

describeDatabases('the import of a bundle', (open) => {
  const openAway = () => open({ origin: 'away.example', works: false })

  it('brings in what is in it, as it is at the origin', async () => {
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

  it('changes nothing where it was done before', async () => {
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

  it('goes on where the last one ended, also with one that overlaps it, and takes an older one as it is', async () => {
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

  it('refuses one that skips entries, and says which one is needed', async () => {
    const origin = await openPublisher(open)
    const { registry, api } = await openAway()
    await origin.publish('tea')
    const late = await bundleOf(origin, { since: 1 })
    const { message } = await refusalOf(importBundle(registry, late))
    expect(message).toBe(
      'This bundle begins after entry 1 of origin.example; this mirror has 0. Make one with: skillstead bundle create FILE --since 0',
    )
    expect(await createMirror(registry).list()).toEqual([])
    await importBundle(registry, await bundleOf(origin))
    for (const name of ['cake', 'jam', 'milk']) await origin.publish(name)
    const skipping = await refusalOf(importBundle(registry, await bundleOf(origin, { since: 3 })))
    expect(skipping.message).toContain('begins after entry 3 of origin.example; this mirror has 1.')
    expect(await api().searchSkills({})).toMatchObject({ total: 1 })
  })

  it('believes the key that was given or seen first, and no other', async () => {
    const origin = await openPublisher(open)
    const impostor = await openPublisher(open)
    await origin.publish('tea')
    await impostor.publish('evil')
    const { registry, api } = await openAway()
    const pinned = await refusalOf(importBundle(registry, await bundleOf(impostor), { keys: [origin.key] }))
    expect(pinned.message).toMatch(/^The signature of the bundle is by the key .*, which is not given/)
    expect(await createMirror(registry).list()).toEqual([])
    expect(await importBundle(registry, await bundleOf(origin), { keys: [origin.key] })).toMatchObject({
      isFirstUse: false,
      keys: [origin.key],
    })
    await refusalOf(importBundle(registry, await bundleOf(impostor)))
    expect(await api().searchSkills({})).toMatchObject({ total: 1 })
  })

  it('follows a change of keys that the old one vouches for, and another one when it is told to', async () => {
    const origin = await openPublisher(open)
    const { registry } = await openAway()
    await origin.publish('tea')
    await importBundle(registry, await bundleOf(origin))
    await rotateKey(origin.registry)
    await origin.publish('cake')
    const keys = (await readVerifierKeys(origin.registry)).map(({ vkey }) => vkey)
    expect((await importBundle(registry, await bundleOf(origin))).keys.toSorted()).toEqual(keys.toSorted())
    await rotateKey(origin.registry, { overlapMs: 0 })
    await rotateKey(origin.registry, { overlapMs: 0 })
    await origin.publish('jam')
    const file = await bundleOf(origin)
    const { message } = await refusalOf(importBundle(registry, file))
    expect(message).toMatch(
      /If the node changed its key, compare the new one with its operator, and give it with --key\.$/,
    )
    const [newest] = await readVerifierKeys(origin.registry)
    expect(await importBundle(registry, file, { keys: [newest!.vkey] })).toMatchObject({
      applied: 1,
      keys: [newest!.vkey],
    })
  })

  it('says of what was left out that it is not in the bundle, and takes it from one that has it', async () => {
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

  it('never overwrites what is from here', async () => {
    const origin = await openPublisher(open)
    const away = await openPublisher(open, { origin: 'away.example' })
    await origin.publish('tea')
    await away.publish('tea', '1.0.0', { body: 'Ours.' })
    const report = await importBundle(away.registry, await bundleOf(origin))
    expect(report).toMatchObject({ applied: 0, refused: [{ subject: 'alice/tea@1.0.0', reason: 'owned_locally' }] })
  })

  it('takes over from the network, and the network from it', async () => {
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

  it('comes from a mirror as well, and still says where everything was first', async () => {
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
    expect(own.message).toBe('This bundle was made of this very node: there is nothing to bring in.')
  })

  it('gives upstreams names, and mixes none up', async () => {
    const [origin, other] = [await openPublisher(open), await openPublisher(open, { origin: 'other.example' })]
    await origin.publish('tea')
    await other.publish('cake')
    const { registry } = await openAway()
    expect(await importBundle(registry, await bundleOf(origin), { name: 'main' })).toMatchObject({ upstream: 'main' })
    const { code, message } = await refusalOf(importBundle(registry, await bundleOf(other), { name: 'main' }))
    expect([code, message]).toEqual([
      'name_taken',
      "This bundle is of other.example, and the upstream 'main' is origin.example. Give it another name with --name.",
    ])
    await origin.publish('jam')
    expect(await importBundle(registry, await bundleOf(origin, { since: 1 }))).toMatchObject({ upstream: 'main' })
    expect(await refusalOf(createMirror(registry).sync('main'))).toMatchObject({ code: 'invalid_request' })
  })

  it('resumes wherever it was ended', async () => {
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

  it('stands still where the origin signed two histories, and leaves the good one serving', async () => {
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

  it('refuses a damaged one before anything of it is in', async () => {
    const origin = await openPublisher(open)
    await origin.publish('tea')
    await origin.publish('cake')
    const file = await alter(origin.registry, await bundleOf(origin), (parts) => {
      parts.at(-1)!.bytes = Buffer.from(parts.at(-1)!.bytes).fill('x', 0, 3)
    })
    const { registry, api } = await openAway()
    expect((await refusalOf(importBundle(registry, file))).message).toMatch(
      /^The bundle is damaged: the content .* was altered/,
    )
    expect(await api().searchSkills({})).toMatchObject({ total: 0 })
    expect(await createMirror(registry).list()).toEqual([])
  })

  it('brings in the skills of a skill with more files than its entry has room for', async () => {
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

/** Lets a registry sign with the keys of another one. */
async function adoptKeys({ registry: from }: Publisher, { registry: to }: Publisher): Promise<void> {
  const keys = await from.database.read.selectFrom('signing_keys').selectAll().execute()
  await to.database.writer.write(async (trx) => {
    await trx.deleteFrom('signing_keys').execute()
    await trx.insertInto('signing_keys').values(keys).execute()
  })
  to.transparency.keys.clear()
  to.transparency.checkpoints.clear()
}

function toIdentity(row: string): string {
  const { full_name, version, digest } = JSON.parse(row) as Record<string, string>
  return `${full_name}@${version} ${digest}`
}
