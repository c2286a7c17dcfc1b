import { randomBytes } from 'node:crypto'
import { partsOf } from '@skillstead/core/internal'
import { toDigest } from '@skillstead/skill-format/archives'
import { describe, expect, it } from 'vitest'
import { bytesOf, codeOf, skillMd, textOf } from '../support/answers.ts'
import { describeDatabases, type TestRegistry, type TestUser } from '../support/harness.ts'
import { openS3Server, failWith } from '../support/s3-server.ts'

const s3 = await openS3Server()

/** Places of contents by the digests of the large files of a test. */
async function placesOf({ registry }: TestRegistry): Promise<Map<string, { place: string | null; stored: number }>> {
  const rows = await partsOf(registry).database.read.selectFrom('blobs').selectAll().execute()
  return new Map(rows.map(({ digest, place, bytes }) => [digest, { place, stored: bytes.length }]))
}

async function untilMoved(test: TestRegistry): Promise<void> {
  await expect.poll(async () => [...(await placesOf(test)).values()].filter(({ place }) => place === 'waiting')).toEqual([])
}

const toHex = (digest: string) => digest.slice('sha256:'.length)

/** Publishes a skill with a large and a small file. */
async function publish(user: TestUser, name: string, bytes: Uint8Array, version = '1.0.0') {
  await user.api.publishSkill({
    skillMd: skillMd(name, { version }),
    files: [
      { path: 'large.bin', content: Buffer.from(bytes).toString('base64'), encoding: 'base64' },
      { path: 'small.txt', content: `small ${version}`, encoding: 'utf8' },
    ],
  })
  return toDigest(bytes)
}

describeDatabases('a bucket of large files', (open, dialect) => {
  let prefixes = 0
  const takePrefix = () => `${dialect}/test-${(prefixes += 1)}`

  it('has large files soon after a publish, and returns them everywhere', async () => {
    const prefix = takePrefix()
    const test = await open({ blobs: s3.toOptions(prefix) })
    const alice = await test.makeUser('alice')
    const [bytes, text] = [randomBytes(300_000), Buffer.from('A text that compresses. '.repeat(9000))]
    const random = await publish(alice, 'tea', bytes)
    const digest = await publish(alice, 'text', Buffer.concat([text, randomBytes(40_000)]))
    await untilMoved(test)
    const places = await placesOf(test)
    expect([random, digest].map((each) => places.get(each))).toEqual(Array(2).fill({ place: 'bucket', stored: 0 }))
    expect([...places.values()].filter(({ place }) => place === null).length, 'small files stay').toBeGreaterThan(2)
    expect((await s3.listKeys(prefix)).toSorted()).toEqual([toHex(random), toHex(digest), 'registry'].toSorted())

    const { api } = alice
    expect(await bytesOf(await api.getFile({ name: 'tea', path: 'large.bin' }))).toEqual(bytes)
    expect(await bytesOf(await api.getBlob({ digest: random }))).toEqual(bytes)
    const lines = await textOf(await api.batchBlobs({ digests: [random, digest] }))
    expect(lines).toContain(bytes.toString('base64'))
    expect((await bytesOf(await api.getArchive({ name: 'tea' }))).length).toBeGreaterThan(300_000)
    await alice.api.forkSkill({ name: 'tea', newName: 'tea-copy' })
    expect(await bytesOf(await api.getFile({ name: 'alice/tea-copy', path: 'large.bin' }))).toEqual(bytes)
    await publish(alice, 'tea', randomBytes(50_000), '2.0.0')
    expect((await api.diffSkill({ name: 'tea', from: '1.0.0', to: '2.0.0' })).files.map(({ path }) => path)).toContain('large.bin')
  })

  it('needs no bucket to publish: files wait in the database until it is available', async () => {
    const prefix = takePrefix()
    const test = await open({ blobs: s3.toOptions(prefix), onError: () => {} })
    const alice = await test.makeUser('alice')
    s3.setFault(failWith(500, 'InternalError'))
    const bytes = randomBytes(100_000)
    const digest = await publish(alice, 'tea', bytes)
    expect(await bytesOf(await alice.api.getFile({ name: 'tea', path: 'large.bin' }))).toEqual(bytes)
    await expect.poll(async () => (await partsOf(test.registry).outbox.list('blobs.move', 1))[0]?.attempts.length, { timeout: 10_000 }).toBe(1)
    expect((await placesOf(test)).get(digest)).toEqual({ place: 'waiting', stored: 100_000 })
    const [job] = await partsOf(test.registry).outbox.list('blobs.move', 1)
    expect(job!.attempts[0]!.error).toMatch(/^The bucket s3:\/\/skills\/\S+ answered 500 InternalError\./)
    s3.setFault(undefined)
    test.clock.advance(11_000)
    await untilMoved(test)
    expect(await bytesOf(await alice.api.getFile({ name: 'tea', path: 'large.bin' }))).toEqual(bytes)
  })
})
