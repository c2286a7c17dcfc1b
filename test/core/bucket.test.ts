import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { deflateRawSync } from 'node:zlib'
import { localApi, systemCaller } from '@skillstead/core'
import {
  findUnusedObjects,
  moveToBucket,
  moveToDatabase,
  partsOf,
  removeUnusedObjects,
} from '@skillstead/core/internal'
import { checkRegistry, collectGarbage } from '@skillstead/maintenance'
import { toDigest } from '@skillstead/skill-format/archives'
import { describe, expect, it } from 'vitest'
import { bytesOf, refusalOf, skillMd, textOf } from '../support/answers.ts'
import { describeDatabases, type TestRegistry, type TestUser } from '../support/harness.ts'
import { makeFolder } from '../support/cli-harness.ts'
import { exportRegistry, importRegistry, openRegistry } from '../support/open-registry.ts'
import { sampleOf } from '../support/security-samples.ts'
import { openS3Server, failWith } from '../support/s3-server.ts'

const s3 = await openS3Server()

/** Places of contents by the digests of the large files of a test. */
async function placesOf({ registry }: TestRegistry): Promise<Map<string, { place: string | null; stored: number }>> {
  const rows = await partsOf(registry).database.read.selectFrom('blobs').selectAll().execute()
  return new Map(rows.map(({ digest, place, bytes }) => [digest, { place, stored: bytes.length }]))
}

async function untilMoved(test: TestRegistry): Promise<void> {
  await expect
    .poll(async () => [...(await placesOf(test)).values()].filter(({ place }) => place === 'waiting'))
    .toEqual([])
}

const makeFiles = () => [
  { path: 'large.bin', content: randomBytes(30_000).toString('base64'), encoding: 'base64' as const },
]

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

  it('receives large files soon after a publish, and every endpoint returns them', async () => {
    const prefix = takePrefix()
    const test = await open({ blobs: s3.toOptions(prefix) })
    const alice = await test.makeUser('alice')
    const [bytes, text] = [randomBytes(300_000), Buffer.from('A text that compresses. '.repeat(9000))]
    const random = await publish(alice, 'tea', bytes)
    const digest = await publish(alice, 'text', Buffer.concat([text, randomBytes(40_000)]))
    await untilMoved(test)
    const places = await placesOf(test)
    expect([random, digest].map((each) => places.get(each))).toEqual(
      [random, digest].map(() => ({ place: 'bucket', stored: 0 })),
    )
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
    expect((await api.diffSkill({ name: 'tea', from: '1.0.0', to: '2.0.0' })).files.map(({ path }) => path)).toContain(
      'large.bin',
    )
  })

  it('is not needed for a publish: files wait in the database until the bucket is available', async () => {
    const prefix = takePrefix()
    const test = await open({ blobs: s3.toOptions(prefix), onError: () => {} })
    const alice = await test.makeUser('alice')
    s3.setFault(failWith(500, 'InternalError'))
    const bytes = randomBytes(100_000)
    const digest = await publish(alice, 'tea', bytes)
    expect(await bytesOf(await alice.api.getFile({ name: 'tea', path: 'large.bin' }))).toEqual(bytes)
    await expect
      .poll(async () => (await partsOf(test.registry).outbox.list('blobs.move', 1))[0]?.attempts.length, {
        timeout: 10_000,
      })
      .toBe(1)
    expect((await placesOf(test)).get(digest)).toEqual({ place: 'waiting', stored: 100_000 })
    const [job] = await partsOf(test.registry).outbox.list('blobs.move', 1)
    expect(job!.attempts[0]!.error).toMatch(/^The bucket s3:\/\/skills\/\S+ answered 500 InternalError\./)
    s3.setFault(undefined)
    test.clock.advance(11_000)
    await untilMoved(test)
    expect(await bytesOf(await alice.api.getFile({ name: 'tea', path: 'large.bin' }))).toEqual(bytes)
  })

  it('receives no files of publishes that are refused, quarantined or dry runs', async () => {
    const prefix = takePrefix()
    const test = await open({ blobs: s3.toOptions(prefix), scanPolicy: { dangerous: 'quarantine' } })
    const alice = await test.makeUser('alice')
    await publish(alice, 'tea', randomBytes(30_000))
    await untilMoved(test)
    const keys = await s3.listKeys(prefix)
    const refused = [
      { skillMd: skillMd('tea', { version: '1.0.0' }), files: makeFiles() },
      { skillMd: skillMd('dry', { version: '1.0.0' }), files: makeFiles(), dryRun: true },
      { skillMd: skillMd('bob/tea'), files: makeFiles() },
      { skillMd: sampleOf('dangerous', 'evil'), files: makeFiles() },
    ]
    for (const input of refused) await alice.api.publishSkill(input).catch(() => {})
    expect((await alice.api.listQuarantined({})).total).toBe(1)
    expect([...(await placesOf(test)).values()].filter(({ place }) => place !== null).length).toBe(1)
    const requests = s3.requests.length
    await publish(alice, 'later', randomBytes(30_000))
    await untilMoved(test)
    expect((await s3.listKeys(prefix)).length).toBe(keys.length + 1)
    expect(s3.requests.slice(requests).filter((request) => request.startsWith('PUT'))).toHaveLength(1)
  })

  it('never has a SKILL.md, so that searches and loads do not depend on the bucket', async () => {
    const prefix = takePrefix()
    const test = await open({ blobs: s3.toOptions(prefix), onError: () => {} })
    const alice = await test.makeUser('alice')
    const body = `Brews tea. ${randomBytes(60_000)
      .toString('base64')
      .replaceAll(/(.{60})/g, '$1\n')}`
    const first = await open({ at: test.location })
    await localApi(first.registry, await first.registry.getCaller('alice')).publishSkill({
      skillMd: skillMd('old', { body }),
    })
    await first.close()
    await alice.api.publishSkill({ skillMd: skillMd('tea', { body }), files: makeFiles() })
    // Content that is there already may be a SKILL.md later.
    const later = skillMd('later', { body })
    await alice.api.publishSkill({
      skillMd: skillMd('other'),
      files: [{ path: 'copy.md', content: later, encoding: 'utf8' }],
    })
    await untilMoved(test)
    await alice.api.publishSkill({ skillMd: later })
    for await (const _ of moveToBucket(partsOf(test.registry)));
    expect(await s3.listKeys(prefix)).toHaveLength(3)
    s3.setFault(failWith(500, 'InternalError'))
    const { skills } = await alice.api.searchSkills({ q: 'brews tea' })
    expect(skills.length).toBeGreaterThan(1)
    await alice.api.publishSkill({ skillMd: skillMd('copy', { body }) })
    expect((await alice.api.loadSkill({ name: 'tea', level: 'full' })).fullContent).toContain(body.slice(0, 1000))
    s3.setFault(undefined)
  })

  it("that fails causes 503 responses without the bucket's name, and failed requests are repeated", async () => {
    const prefix = takePrefix()
    const test = await open({ blobs: s3.toOptions(prefix), onError: () => {} })
    const alice = await test.makeUser('alice')
    const bytes = randomBytes(100_000)
    await publish(alice, 'tea', bytes)
    await untilMoved(test)
    const read = () => alice.api.getFile({ name: 'tea', path: 'large.bin' })
    const failures = [
      [500, 'InternalError'],
      [503, 'SlowDown'],
      [403, 'AccessDenied'],
      [404, 'NoSuchBucket'],
      [301, 'PermanentRedirect'],
    ] as const
    for (const [status, code] of failures) {
      s3.setFault(failWith(status, code))
      const error = await refusalOf(read())
      expect({ code: error.code, status: error.status, retry: error.retryAfterSeconds }, code).toEqual({
        code: 'overloaded',
        status: 503,
        retry: 5,
      })
      expect(error.message).toBe('The storage of large files is unavailable at the moment. Try again shortly.')
    }
    expect(await bytesOf(await alice.api.getFile({ name: 'tea', path: 'small.txt' }))).toEqual(
      Buffer.from('small 1.0.0'),
    )
    // Connections that break, and one bad answer: the request is repeated.
    let left = 2
    s3.setFault((_method, response) => {
      if (left-- <= 0) return false
      if (left === 1) response.destroy()
      else failWith(500, 'InternalError')('GET', response)
      return true
    })
    expect(await bytesOf(await read())).toEqual(bytes)
    s3.setFault(undefined)
    const before = s3.requests.length
    await Promise.all([read(), read()])
    expect(s3.requests.length, 'the last contents are cached').toBe(before)
  })

  it('causes an error instead of a download if an object is missing or altered', async () => {
    const prefix = takePrefix()
    const options = { blobs: s3.toOptions(prefix), onError: () => {} }
    const test = await open(options)
    const alice = await test.makeUser('alice')
    const text = Buffer.from(randomBytes(60_000).toString('hex'))
    const variants: readonly ((key: string) => Promise<unknown>)[] = [
      (key) => s3.removeObject(key),
      (key) => s3.writeObject(key, randomBytes(1000)),
      (key) => s3.writeObject(key, Buffer.alloc(0)),
      async (key) => s3.writeObject(key, (await s3.readObject(key)).subarray(0, 5000)),
      (key) => s3.writeObject(key, deflateRawSync(Buffer.alloc(64 * 1024 * 1024))),
      (key) => s3.writeObject(key, Buffer.alloc(11 * 1024 * 1024)),
    ]
    for (const [i, damage] of variants.entries()) {
      const digest = await publish(alice, `tea-${i}`, Buffer.concat([text, Buffer.from(`${i}`)]))
      await untilMoved(test)
      await damage(`${prefix}/${toHex(digest)}`)
      await expect(alice.api.getFile({ name: `tea-${i}`, path: 'large.bin' }), `variant ${i}`).rejects.toThrow(
        /The (?:bucket|storage of large files) /,
      )
    }
    const contents = (await checkRegistry(test.registry, { deep: true })).find(({ name }) => name === 'contents')
    expect(contents).toMatchObject({ ok: false, detail: expect.stringContaining('cannot be read from the bucket') })
    expect(contents!.detail).toMatch(/The bucket s3:\/\/skills\/\S+ (?:has other bytes|lacks the object)/)
  })

  it('has an object for every file recorded as moved, even if an upload fails midway', async () => {
    const prefix = takePrefix()
    const test = await open({ blobs: s3.toOptions(prefix), works: false })
    const alice = await test.makeUser('alice')
    for (let i = 0; i < 6; i++) await publish(alice, `tea-${i}`, randomBytes(20_000 + i))
    let uploads = 0
    s3.setFault((method, response) => {
      if (method !== 'PUT' || (uploads += 1) < 4) return false
      return failWith(403, 'AccessDenied')(method, response)
    })
    const move = async () => {
      let count = 0
      for await (const moved of moveToBucket(partsOf(test.registry))) count += moved
      return count
    }
    await expect(move()).rejects.toThrow(
      /^The bucket \S+ answered 403 AccessDenied\. Let these credentials list, read, write and delete objects/,
    )
    expect([...(await placesOf(test)).values()].filter(({ place }) => place === 'bucket')).toEqual([])
    s3.setFault(undefined)
    const other = await open({ at: test.location, blobs: s3.toOptions(prefix), works: false })
    const inTurn = moveToBucket(partsOf(other.registry)).next()
    const [count, { value: alsoMoved }] = await Promise.all([move(), inTurn])
    expect(Math.max(count, alsoMoved ?? 0), 'continues, also on two nodes at once').toBe(6)
    expect(await s3.listKeys(prefix)).toHaveLength(7)
    expect(await move(), 'has nothing left to do').toBe(0)
    for await (const _ of moveToDatabase(partsOf(test.registry)));
    const places = [...(await placesOf(test)).values()]
    expect(places.filter(({ place, stored }) => place !== null || stored === 0)).toEqual([])
    expect((await checkRegistry(test.registry, { deep: true })).filter(({ ok }) => !ok)).toEqual([])
  })

  it('with a prefix that another registry uses is refused', async () => {
    const prefix = takePrefix()
    const test = await open({ blobs: s3.toOptions(prefix), works: false })
    const other = await open({ blobs: s3.toOptions(prefix), works: false })
    for (const each of [test, other]) await publish(await each.makeUser('alice'), 'tea', randomBytes(30_000))
    for await (const _ of moveToBucket(partsOf(test.registry)));
    const origin = await s3.readObject(`${prefix}/registry`)
    const refused = /belongs to the registry \S+\. Choose another bucket, or another prefix/
    await expect(moveToBucket(partsOf(other.registry)).next()).rejects.toThrow(refused)
    await expect(findUnusedObjects(partsOf(other.registry)).next()).rejects.toThrow(refused)
    expect(await s3.readObject(`${prefix}/registry`)).toEqual(origin)
  })

  it('loses only old unused objects in a garbage collection, and receives no files meanwhile', async () => {
    const prefix = takePrefix()
    const test = await open({ blobs: s3.toOptions(prefix), works: false })
    test.clock.set(Date.now())
    const parts = partsOf(test.registry)
    const alice = await test.makeUser('alice')
    const used = toHex(await publish(alice, 'tea', randomBytes(30_000)))
    for await (const _ of moveToBucket(parts));
    const weekMs = 7 * 86_400_000
    const [old, young] = ['a'.repeat(64), 'b'.repeat(64)]
    for (const [key, age] of [
      [used, 2],
      [old, 2],
      ['foreign.txt', 2],
      [`${old}x`, 2],
      [young, 0.9],
    ] as const) {
      if (key !== used) await s3.copyObject(`${prefix}/${used}`, `${prefix}/${key}`)
      await s3.setTime(`${prefix}/${key}`, Date.now() - age * weekMs)
    }
    const collect = (options: object) =>
      collectGarbage(parts, options).then((garbage) => garbage.find(({ name }) => name === 'objects'))
    expect(await collect({}), 'not in the background').toBeUndefined()
    expect(await collect({ objects: true, dryRun: true })).toEqual({ name: 'objects', count: 1, bytes: 30_000 })
    // A publish between the list and the removal stores the content again.
    const { value: unused } = await findUnusedObjects(parts).next()
    const bytes = randomBytes(25_000)
    const stored = { digest: toDigest(bytes), bytes: 25_000, uploadedAt: 0 }
    await publish(alice, 'late', bytes)
    expect(await removeUnusedObjects(parts, [...unused!, stored])).toEqual(unused)
    expect((await s3.listKeys(prefix)).toSorted()).toEqual(
      [used, `${old}x`, young, 'foreign.txt', 'registry'].toSorted(),
    )
    // A removal that failed may be processed later: nothing is moved for an hour.
    s3.setFault(failWith(500, 'InternalError', 'DELETE'))
    await expect(removeUnusedObjects(parts, unused!)).rejects.toThrow('answered 500 InternalError')
    s3.setFault(undefined)
    await expect(moveToBucket(parts).next()).rejects.toThrow('Unused objects are being removed from the bucket')
    test.clock.advance(3_600_001)
    for await (const _ of moveToBucket(parts));
    expect((await placesOf(test)).get(stored.digest)).toEqual({ place: 'bucket', stored: 0 })
  })

  it('is needed for an export, but not for the registry that imports the export', async () => {
    const prefix = takePrefix()
    const test = await open({ blobs: s3.toOptions(prefix) })
    const alice = await test.makeUser('alice')
    const bytes = randomBytes(200_000)
    await publish(alice, 'tea', bytes)
    await untilMoved(test)
    const file = join(await makeFolder(), 'export.ndjson.gz')
    await expect(exportRegistry(test.location, file)).rejects.toThrow('Large files of this registry are in a bucket.')
    await exportRegistry({ ...test.location, blobs: s3.toOptions(prefix) }, file)
    const path = join(await makeFolder(), 'skills.db')
    await importRegistry(file, { path })
    const copy = await openRegistry({ path })
    expect(await bytesOf(await localApi(copy).getFile({ name: 'alice/tea', path: 'large.bin' }))).toEqual(bytes)
    await copy.close()
  })

  it('is needed to open a registry whose files are in the bucket', async () => {
    const prefix = takePrefix()
    const test = await open({ blobs: s3.toOptions(prefix) })
    const alice = await test.makeUser('alice')
    await publish(alice, 'tea', randomBytes(30_000))
    await untilMoved(test)
    await expect(openRegistry(test.location)).rejects.toThrow('Large files of this registry are in a bucket. Pass it')
    const registry = await openRegistry({ ...test.location, works: false })
    const error = await refusalOf(localApi(registry).getFile({ name: 'alice/tea', path: 'large.bin' }))
    expect(error).toMatchObject({ code: 'overloaded', status: 503 })
    const blobs = (await checkRegistry(registry)).find(({ name }) => name === 'blobs')
    expect(blobs).toMatchObject({ ok: false, detail: expect.stringContaining('Pass it with --blobs') })
    await registry.close()
  })
})

it('a bucket that does not answer is asked again after 5 seconds', async () => {
  const registry = await openRegistry({ path: ':memory:', blobs: s3.toOptions('slow'), works: false })
  await localApi(registry, systemCaller).createUser({ username: 'alice' })
  const alice = localApi(registry, await registry.getCaller('alice'))
  await alice.publishSkill({ skillMd: skillMd('tea'), files: makeFiles() })
  for await (const _ of moveToBucket(partsOf(registry)));
  const before = s3.requests.length
  s3.setFault(() => s3.requests.length === before + 1)
  expect((await bytesOf(await alice.getFile({ name: 'tea', path: 'large.bin' }))).length).toBe(30_000)
  s3.setFault(undefined)
  expect(s3.requests.slice(before)).toHaveLength(2)
  await registry.close()
})

it('a bucket that never answers does not keep a registry from closing', async () => {
  const registry = await openRegistry({ path: ':memory:', blobs: s3.toOptions('hangs'), onError: () => {} })
  await localApi(registry, systemCaller).createUser({ username: 'alice' })
  const before = s3.requests.length
  s3.setFault(() => true)
  await localApi(registry, await registry.getCaller('alice')).publishSkill({
    skillMd: skillMd('tea'),
    files: makeFiles(),
  })
  await expect.poll(() => s3.requests.length).toBeGreaterThan(before)
  await registry.close()
  s3.setFault(undefined)
})

describe('the options of a bucket', () => {
  it('are refused if the URL, the endpoint or a credential is not valid', async () => {
    const urls = ['', 'skills', 'https://skills', 's3://', 's3://a', 's3://UPPER', 's3://skills/../x', 's3://skills//x']
    for (const url of [...urls, 's3://skills/a b', 's3://user:pa55w0rd@skills', 's3://skills/x?y', 's3://skills/<key>'])
      await expect(openRegistry({ path: ':memory:', blobs: s3.toOptions('', { url }) }), url).rejects.toThrow(
        'This is not the URL of a bucket',
      )
    const wrong = [{ endpoint: 'ftp://host' }, { endpoint: 'http://user:pa55w0rd@host' }, { accessKeyId: '' }]
    for (const options of wrong) {
      const error = await openRegistry({ path: ':memory:', blobs: s3.toOptions('', options) }).catch((e: Error) => e)
      expect(error).toBeInstanceOf(TypeError)
      expect((error as Error).message).not.toContain('pa55w0rd')
    }
  })

  it('with wrong credentials cause an error that gives advice and contains no secret', async () => {
    const blobs = s3.toOptions('wrong', { secretAccessKey: 'another-secret', sessionToken: 'a-token' })
    const registry = await openRegistry({ path: ':memory:', blobs, works: false })
    const error = await moveToBucket(partsOf(registry))
      .next()
      .catch((e: Error) => e)
    expect((error as Error).message).toBe(
      'The bucket s3://skills/wrong answered 403 SignatureDoesNotMatch. Check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.',
    )
    await registry.close()
  })
})
