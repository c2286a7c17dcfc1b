import { verifyProvenance } from '@skillstead/client/verify'
import { partsOf, signText, toRoot } from '@skillstead/core/internal'
import { toDigest } from '@skillstead/skill-format/archives'
import { createBundle, createMirror, importBundle, verifyBundle, type FeedEntry } from '@skillstead/mirror'
import { afterEach, expect, it } from 'vitest'
import { refusalOf, skillMd } from '../support/answers.ts'
import { alter, makeFile, openPublisher, readParts } from '../support/bundle-acts.ts'
import { describeInTurn, type Open, type TestRegistry } from '../support/harness.ts'
import { endMirrors } from '../support/mirror-harness.ts'
import { readState } from '../support/mirror-state.ts'
import { addUpstream, pull } from '../support/mirrored-acts.ts'
import { readUpstreamFrontier } from '../../packages/mirror/src/store/upstream-log.ts'
import { withUpstreams } from '../../packages/mirror/src/tables/mirror-tables.ts'

afterEach(endMirrors)

type Options = NonNullable<Parameters<typeof createBundle>[2]>

/** A registry, a mirror outside that follows it as `main`, and one inside that no network reaches. */
async function openWay(open: Open) {
  const origin = await openPublisher(open)
  const outside = await open({ origin: 'outside.example', works: false })
  const inside = await open({ origin: 'inside.example', works: false })
  const follow = async () => {
    const file = await makeFile()
    await createBundle(origin.registry, file)
    await importBundle(outside.registry, file, { name: 'main', keys: [origin.key] })
  }
  const write = async (options: Options = {}) => {
    const file = await makeFile()
    const { header } = await createBundle(outside.registry, file, { upstream: 'main', ...options })
    return { file, header }
  }
  const outsideKey = (await outside.registry.verifierKeys())[0]!.vkey
  return { origin, outside, inside, follow, write, outsideKey }
}

describeInTurn('a bundle that a mirror creates of an upstream', (open) => {
  it("is verified with the upstream's key, as is each version that another node imports from the bundle", async () => {
    const { origin, inside, follow, write } = await openWay(open)
    await origin.publish('tea')
    await origin.publish('tea', '1.1.0', { files: [{ path: 'references/pot.md', content: 'A pot.\n' }] })
    await follow()
    const { file, header } = await write()
    expect(header).toMatchObject({
      origin: 'origin.example',
      until: 2,
      keys: [origin.key],
      maker: { name: 'outside.example' },
      counts: { versions: 2, complete: 2 },
    })
    const keys = [origin.key]
    expect(await importBundle(inside.registry, file, { keys })).toMatchObject({
      upstream: 'origin-example',
      origin: 'origin.example',
      applied: 2,
      refusedTotal: 0,
      head: 2,
      keys,
      next: 'skillstead bundle create FILE --upstream NAME --since 2',
    })
    expect(await readState(inside.registry)).toEqual(await readState(origin.registry))
    const record = await inside.api().getProvenance({ name: 'alice/tea' })
    expect(record.log).toMatchObject({ origin: 'origin.example', treeSize: 2 })
    expect(verifyProvenance(record, { keys })).toMatchObject({ ok: true, entry: { subject: 'alice/tea@1.1.0' } })
    const { entries } = await inside.api().getFeed({})
    expect(entries[0]!.data).toMatchObject({ origin: { origin: 'origin.example', seq: 1 } })
  })

  it("continues from a position in the upstream's log, whichever node created the previous bundle", async () => {
    const { origin, inside, follow, write } = await openWay(open)
    await origin.publish('tea')
    const first = await makeFile()
    await createBundle(origin.registry, first)
    await importBundle(inside.registry, first, { keys: [origin.key] })
    await origin.publish('cake')
    await origin.alice.api.deleteSkill({ name: 'alice/tea' })
    await follow()
    const late = await refusalOf(importBundle(inside.registry, (await write({ since: 2 })).file))
    expect(late.message).toMatch(/this mirror has only 1 entries\. Create one with: .* --upstream NAME --since 1$/)
    expect(await importBundle(inside.registry, (await write({ since: 1 })).file)).toMatchObject({ applied: 2, head: 3 })
    expect(await readState(inside.registry)).toEqual(await readState(origin.registry))
  })

  it("is verified with the upstream's key, and also with the mirror's key if the operator passes both keys", async () => {
    const { origin, outside, follow, write, outsideKey } = await openWay(open)
    await origin.publish('tea')
    await follow()
    const { file } = await write()
    expect(await verifyBundle(file, { keys: [origin.key] })).toMatchObject({
      isTrusted: true,
      signers: [{ name: 'origin.example' }],
      makers: [{ name: 'outside.example' }],
      isMakerTrusted: false,
    })
    expect(await verifyBundle(file, { keys: [origin.key, outsideKey] })).toMatchObject({ isMakerTrusted: true })
    const { message } = await refusalOf(verifyBundle(file, { keys: [outsideKey] }))
    expect(message).toMatch(
      /^The signature of the checkpoint is by the key origin\.example\+.*, which is not among the given keys/,
    )
    const stranger = await openPublisher(open, { origin: 'outside.example' })
    const altered = await alter(stranger.registry, file, (_, header) => {
      header.maker!.keys = [stranger.key]
      header.createdAt = '2020-01-01T00:00:00.000Z'
    })
    expect(await verifyBundle(altered, { keys: [origin.key] })).toMatchObject({ isTrusted: true })
    await expect(verifyBundle(altered, { keys: [origin.key, outsideKey] })).rejects.toThrow(
      /which is not among the given keys/,
    )
    const unsigned = await alter(stranger.registry, file, () => undefined)
    await expect(verifyBundle(unsigned, { keys: [origin.key] })).rejects.toThrow(/The signature of the bundle/)
    const own = await alter(outside.registry, file, (_, header) => void (header.maker!.name = 'origin.example'))
    await expect(verifyBundle(own, { keys: [origin.key] })).rejects.toThrow(/names the node itself/)
  })

  it('is not created if the upstream has no log, or if the mirror has not imported its whole log', async () => {
    const { origin, outside, follow, write } = await openWay(open)
    expect(await refusalOf(write())).toMatchObject({ code: 'not_found' })
    const mirror = createMirror(outside.registry)
    await mirror.add('papers', '/srv/papers', { kind: 'folder' })
    await mirror.add('new', 'https://new.example', { kind: 'node' })
    await mirror.close()
    expect((await refusalOf(write({ upstream: 'papers' }))).message).toMatch(
      /^Upstreams of kind folder, such as 'papers', have no signed log/,
    )
    expect((await refusalOf(write({ upstream: 'new' }))).message).toBe(
      "'new' was never synced. Run `skillstead mirror sync new` first.",
    )
    await origin.publish('tea')
    await follow()
    await partsOf(outside.registry).database.writer.write((trx) =>
      withUpstreams(trx).updateTable('upstreams').set({ applied: 0 }).where('name', '=', 'main').execute(),
    )
    const { code, message } = await refusalOf(write())
    expect([code, message]).toEqual([
      'conflict',
      "Only 0 of the 1 entries of 'main' are imported. Run `skillstead bundle import FILE --name main` first.",
    ])
  })

  it('is not created if the stored log entries do not match the signed checkpoint', async () => {
    const { origin, outside, follow, write } = await openWay(open)
    await origin.publish('tea')
    await origin.publish('cake')
    await follow()
    await partsOf(outside.registry).database.writer.write(async (trx) => {
      const { entry } = await withUpstreams(trx)
        .selectFrom('upstream_log')
        .select('entry')
        .where('seq', '=', 2)
        .executeTakeFirstOrThrow()
      await withUpstreams(trx)
        .updateTable('upstream_log')
        .set({ entry: entry.replaceAll('cake', 'lies') })
        .where('seq', '=', 2)
        .execute()
    })
    expect((await refusalOf(write())).message).toMatch(/^The 2 entries of 'main' do not match the signed checkpoint/)
  })

  it('contains no private files of the mirror, even if a false entry of the upstream names them by digest', async () => {
    const { origin, outside, write } = await openWay(open)
    await origin.publish('tea')
    await origin.alice.api.yankVersion({ name: 'alice/tea', version: '1.0.0' })
    const bob = await outside.makeUser('bob')
    const secret = skillMd('diary', { body: 'What no one may read.' })
    await bob.api.publishSkill({ skillMd: secret, visibility: 'private' })
    await followLiar(outside, origin, { digest: toDigest(secret), size: Buffer.byteLength(secret) })
    for (const upstream of ['main', undefined]) {
      const { file, header } = await write({ upstream })
      expect(header.counts).toMatchObject({ complete: 1, blobs: 1 })
      const text = Buffer.concat((await readParts(file)).map(({ bytes }) => bytes)).toString()
      expect(text).toContain('# tea')
      expect(text).not.toContain('What no one may read.')
    }
  })
})

/** Lets a mirror follow a node that signs, after a version, another entry of it which names one more file. */
async function followLiar(
  outside: TestRegistry,
  origin: Awaited<ReturnType<typeof openPublisher>>,
  file: { digest: string; size: number },
): Promise<void> {
  await addUpstream(outside, 'main')
  let version: FeedEntry | undefined
  const edit = (entry: FeedEntry): FeedEntry => {
    if (entry.type === 'version') return (version = entry)
    const { data, ...rest } = version!
    const files = [...(data['files'] as object[]), { path: 'references/diary.md', ...file }]
    return { ...rest, seq: entry.seq, data: { ...data, changelog: 'Once more.', files } }
  }
  await pull(outside, 'main', origin.test.api(), { edit })
  const root = toRoot(await readUpstreamFrontier(partsOf(outside.registry).database.read, 'main', 2)).toString('base64')
  const body = `origin.example\n2\n${root}\n`
  const checkpoint = `${body}\n${(await signText(partsOf(origin.registry), body)).map((line) => `${line}\n`).join('')}`
  const report = '{"last":null,"error":null}'
  const known = { checkpoint, report, keys: JSON.stringify([origin.key]) }
  await partsOf(outside.registry).database.writer.write((trx) =>
    withUpstreams(trx).updateTable('upstreams').set(known).execute(),
  )
}
