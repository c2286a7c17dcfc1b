import { randomBytes } from 'node:crypto'
import { systemCaller } from '@skillstead/core'
import { importVersions, moveToDatabase, partsOf } from '@skillstead/core/internal'
import { checkRegistry } from '@skillstead/maintenance'
import { toDigest } from '@skillstead/skill-format/archives'
import { expect, it } from 'vitest'
import { bytesOf, skillMd } from '../support/answers.ts'
import { describeDatabases, type TestRegistry } from '../support/harness.ts'
import { failWith, openS3Server } from '../support/s3-server.ts'

const s3 = await openS3Server()

const placeOf = async ({ registry }: TestRegistry, digest: string) => {
  const { read } = partsOf(registry).database
  return (await read.selectFrom('blobs').select('place').where('digest', '=', digest).executeTakeFirst())?.place
}

const findFault = async ({ registry }: TestRegistry, options: { deep?: boolean } = {}) =>
  (await checkRegistry(registry, options)).flatMap(({ name, ok, detail }) => (ok ? [] : [`${name}: ${detail}`])).join()

const advice =
  'Publish, import or sync the same files again: that stores them again. Or restore the objects in the bucket, and run doctor --deep.'

describeDatabases('a lost or altered object in a bucket', (open, dialect) => {
  let prefixes = 0

  /** A registry with a skill whose large file is in the bucket, and was not read yet. */
  async function openWithSkill() {
    const prefix = `${dialect}/losses-${(prefixes += 1)}`
    const test = await open({ blobs: s3.toOptions(prefix), onError: () => {} })
    const { api } = await test.makeUser('alice')
    const bytes = randomBytes(40_000)
    const digest = toDigest(bytes)
    const files = [{ path: 'large.bin', content: bytes.toString('base64'), encoding: 'base64' as const }]
    const publish = (version = '1.0.0', name = 'tea', dryRun = false) =>
      api.publishSkill({ skillMd: skillMd(name, { version }), files, dryRun })
    await publish()
    await expect.poll(() => placeOf(test, digest)).toBe('bucket')
    const key = `${prefix}/${digest.slice('sha256:'.length)}`
    const read = async () => bytesOf(await api.getFile({ name: 'alice/tea', path: 'large.bin' }))
    const noticeLoss = async () => {
      await expect(read()).rejects.toThrow(/lacks the object|has other bytes/)
      await expect.poll(() => placeOf(test, digest)).toBe('lost')
    }
    return { test, api, bytes, digest, key, publish, read, noticeLoss }
  }
  type Opened = Awaited<ReturnType<typeof openWithSkill>>

  it.each<[string, (opened: Opened) => Promise<unknown>]>([
    ['the same version', ({ publish }) => publish()],
    ['another version with the same file', ({ publish }) => publish('2.0.0')],
    ['another skill with the same file', ({ publish }) => publish('1.0.0', 'coffee')],
    [
      'the same version by an import',
      ({ test, bytes }) => {
        const files = [{ path: 'large.bin', bytes }]
        const version = { owner: 'alice', name: 'tea', skillMd: skillMd('tea', { version: '1.0.0' }), files }
        return importVersions(partsOf(test.registry), [version], systemCaller)
      },
    ],
  ])('is stored again by publishing %s, once a read has noticed the loss', async (_, repair) => {
    const opened = await openWithSkill()
    const { test, bytes, digest, key, read, noticeLoss } = opened
    await s3.removeObject(key)
    await noticeLoss()
    expect(await findFault(test)).toBe(
      `blobs: The bucket lost or altered large.bin of alice/tea@1.0.0 (${digest}). ${advice}`,
    )
    await repair(opened)
    expect(await read(), 'at once, from the database').toEqual(bytes)
    await expect.poll(() => placeOf(test, digest)).toBe('bucket')
    expect(await s3.readObject(key)).toEqual(bytes)
    expect(await findFault(test, { deep: true })).toBe('')
  })

  it('is found by doctor --deep if its bytes were altered, and is replaced by the next publish', async () => {
    const { test, bytes, digest, key, publish, read } = await openWithSkill()
    await s3.writeObject(key, randomBytes(100))
    const found = await findFault(test, { deep: true })
    expect(found).toContain(`contents: Content ${digest} cannot be read from the bucket: The bucket s3://`)
    expect(found).toContain(`For files in the bucket: ${advice} For others: Restore a backup.`)
    await expect.poll(() => placeOf(test, digest)).toBe('lost')
    await publish()
    await expect.poll(() => placeOf(test, digest)).toBe('bucket')
    expect(await s3.readObject(key)).toEqual(bytes)
    expect(await read()).toEqual(bytes)
  })

  it('is no longer reported once the operator has restored the object', async () => {
    const { test, bytes, digest, key, read, noticeLoss } = await openWithSkill()
    await s3.copyObject(key, `${key}-copy`)
    await s3.removeObject(key)
    await noticeLoss()
    await s3.copyObject(`${key}-copy`, key)
    expect(await read()).toEqual(bytes)
    await expect.poll(() => placeOf(test, digest)).toBe('bucket')
    expect(await findFault(test)).toBe('')
  })

  it('is recorded as lost only if the bucket works, and stays lost until the same file is published again', async () => {
    const { test, api, digest, key, publish, read, noticeLoss } = await openWithSkill()
    for (const [status, code] of [
      [500, 'InternalError'],
      [403, 'AccessDenied'],
      [404, 'NoSuchBucket'],
    ] as const) {
      s3.setFault(failWith(status, code))
      await expect(read()).rejects.toThrow('The storage of large files is unavailable')
    }
    s3.setFault(undefined)
    await partsOf(test.registry).database.writer.drain()
    expect(await placeOf(test, digest)).toBe('bucket')
    await s3.removeObject(key)
    await noticeLoss()
    for (const version of ['1.0.0', '2.0.0']) await publish(version, 'tea', true)
    await api.publishSkill({ skillMd: skillMd('other'), files: [{ path: 'a.txt', content: 'a', encoding: 'utf8' }] })
    expect(await placeOf(test, digest)).toBe('lost')
    await expect(async () => {
      for await (const _ of moveToDatabase(partsOf(test.registry)));
    }).rejects.toThrow('lacks the object')
    await publish()
    await expect.poll(() => placeOf(test, digest)).toBe('bucket')
  })

  it('is noticed only when the object is read: publishing known files sends no requests to the bucket', async () => {
    const { test, digest, publish } = await openWithSkill()
    const before = s3.requests.length
    await publish()
    await publish('2.0.0')
    await publish('1.0.0', 'coffee')
    await expect
      .poll(async () => (await partsOf(test.registry).outbox.list('blobs.move', 1))[0]?.state)
      .not.toBe('pending')
    expect(s3.requests.slice(before)).toEqual([])
    expect(await placeOf(test, digest)).toBe('bucket')
  })
})
