import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { toDigest } from '@skillstead/skill-format/archives'
import { bundleOf, openPublisher } from '../support/bundle-acts.ts'
import { makeFolder } from '../support/cli-harness.ts'
import { partsOf } from '@skillstead/core/internal'
import { checkRegistry } from '@skillstead/maintenance'
import { importBundle } from '@skillstead/mirror'
import { afterEach, expect, it } from 'vitest'
import { bytesOf, skillMd } from '../support/answers.ts'
import { describeInTurn, type TestRegistry } from '../support/harness.ts'
import { endMirrors, openMirror, openUpstream } from '../support/mirror-harness.ts'
import { findDamage } from '../support/mirror-state.ts'
import { openS3Server } from '../support/s3-server.ts'

afterEach(endMirrors)

const s3 = await openS3Server()

async function countAt({ registry }: TestRegistry, place: 'waiting' | 'bucket' | 'lost'): Promise<number> {
  const { read } = partsOf(registry).database
  return (await read.selectFrom('blobs').select('digest').where('place', '=', place).execute()).length
}

const toFiles = (contents: readonly Buffer[]) =>
  contents.map((bytes, i) => ({ path: `${i}.bin`, content: bytes.toString('base64'), encoding: 'base64' as const }))

describeInTurn('a mirror with a bucket of its own', (open, dialect) => {
  it('stores each large file of its upstream in its bucket, once for all versions that contain the file', async () => {
    const upstream = await openUpstream(open, { blobs: s3.toOptions(`${dialect}/upstream`) })
    const { mirror, test } = await openMirror(open, {}, { blobs: s3.toOptions(`${dialect}/mirror`) })
    const bytes = randomBytes(200_000)
    const files = [{ path: 'large.bin', content: bytes.toString('base64'), encoding: 'base64' as const }]
    const publish = (version: string) =>
      upstream.alice.api.publishSkill({ skillMd: skillMd('tea', { version }), files })
    await publish('1.0.0')
    await expect.poll(() => countAt(upstream.test, 'bucket')).toBe(1)
    await mirror.add('main', upstream.url)
    await mirror.sync('main')
    await expect.poll(() => countAt(test, 'bucket')).toBe(1)
    await publish('2.0.0')
    expect(await mirror.sync('main')).toMatchObject({ applied: 1, refusedTotal: 0 })
    for (const version of ['1.0.0', '2.0.0'])
      expect(await bytesOf(await test.api().getFile({ name: 'alice/tea', version, path: 'large.bin' }))).toEqual(bytes)
    expect(await s3.listKeys(`${dialect}/mirror`)).toHaveLength(2)
    expect(await findDamage(test.registry)).toEqual([])
  })

  it("fetches files of its upstream again that its bucket lost, but requests no files of the mirror's own skills", async () => {
    const upstream = await openUpstream(open, { blobs: s3.toOptions(`${dialect}/lossless`) })
    const { mirror, test } = await openMirror(open, {}, { blobs: s3.toOptions(`${dialect}/lossy`), onError: () => {} })
    const bytes = [1, 2, 3].map(() => randomBytes(50_000))
    await upstream.alice.api.publishSkill({ skillMd: skillMd('tea'), files: toFiles(bytes.slice(0, 2)) })
    const carol = await upstream.test.makeUser('carol')
    await carol.api.publishSkill({ skillMd: skillMd('same'), files: toFiles([bytes[2]!]) })
    const { api } = await test.makeUser('bob')
    await api.publishSkill({ skillMd: skillMd('own', { version: '1.0.0' }), files: toFiles([bytes[2]!]) })
    await mirror.add('main', upstream.url, { filters: { owners: ['alice'] } })
    await mirror.sync('main')
    await expect.poll(() => countAt(test, 'bucket')).toBe(3)
    const lose = async () => {
      for (const key of await s3.listKeys(`${dialect}/lossy`))
        if (key !== 'registry') await s3.removeObject(`${dialect}/lossy/${key}`)
      await checkRegistry(test.registry, { deep: true })
      await expect.poll(() => countAt(test, 'lost')).toBe(3)
    }
    const read = (path: string, version = '1.0.0') => test.api().getFile({ name: 'alice/tea', version, path })
    await lose()
    await expect(read('0.bin')).rejects.toThrow('lacks the object')
    await mirror.sync('main')
    await expect.poll(() => countAt(test, 'bucket')).toBe(2)
    // The other file is not read: the node would cache it.
    expect(await bytesOf(await read('0.bin'))).toEqual(bytes[0])
    await expect(api.getFile({ name: 'bob/own', path: '0.bin' })).rejects.toThrow('lacks the object')

    await s3.removeObject(`${dialect}/lossy/${toDigest(bytes[1]!).slice(7)}`)
    await checkRegistry(test.registry, { deep: true })
    await expect.poll(() => countAt(test, 'lost')).toBe(2)
    await upstream.alice.api.publishSkill({
      skillMd: skillMd('tea', { version: '2.0.0' }),
      files: toFiles([bytes[1]!]),
    })
    expect(await mirror.sync('main')).toMatchObject({ applied: 1, refusedTotal: 0 })
    await expect.poll(() => countAt(test, 'bucket')).toBe(2)
    expect(await bytesOf(await read('0.bin', '2.0.0'))).toEqual(bytes[1])
  })

  it('restores files that its bucket lost from a bundle that it imported before', async () => {
    const origin = await openPublisher(open)
    const bytes = randomBytes(50_000)
    await origin.alice.api.publishSkill({ skillMd: skillMd('tea'), files: toFiles([bytes]) })
    const test = await open({ origin: 'away.example', blobs: s3.toOptions(`${dialect}/away`), onError: () => {} })
    const bundle = await bundleOf(origin)
    await importBundle(test.registry, bundle)
    await expect.poll(() => countAt(test, 'bucket')).toBe(1)
    await s3.removeObject(`${dialect}/away/${toDigest(bytes).slice(7)}`)
    const read = () => test.api().getFile({ name: 'alice/tea', path: '0.bin' })
    await expect(read()).rejects.toThrow('lacks the object')
    await expect.poll(() => countAt(test, 'lost')).toBe(1)
    await importBundle(test.registry, bundle)
    await expect.poll(() => countAt(test, 'bucket')).toBe(1)
    expect(await bytesOf(await read())).toEqual(bytes)
  })

  it('restores files that its bucket lost from the folder that it mirrors', async () => {
    const folder = await makeFolder()
    await mkdir(join(folder, 'ann', 'tea'), { recursive: true })
    const bytes = randomBytes(50_000)
    await writeFile(join(folder, 'ann', 'tea', 'SKILL.md'), skillMd('tea'))
    await writeFile(join(folder, 'ann', 'tea', 'large.bin'), bytes)
    const { mirror, test } = await openMirror(open, {}, { blobs: s3.toOptions(`${dialect}/disk`), onError: () => {} })
    await mirror.add('disk', folder, { kind: 'folder', filters: { owners: ['ann'] } })
    await mirror.sync('disk')
    await expect.poll(() => countAt(test, 'bucket')).toBe(1)
    await s3.removeObject(`${dialect}/disk/${toDigest(bytes).slice(7)}`)
    await checkRegistry(test.registry, { deep: true })
    await expect.poll(() => countAt(test, 'lost')).toBe(1)
    await mirror.sync('disk')
    await expect.poll(() => countAt(test, 'bucket')).toBe(1)
    const read = await test.api().getFile({ name: 'ann/tea', path: 'large.bin' })
    expect(await bytesOf(read)).toEqual(bytes)
  })
})
