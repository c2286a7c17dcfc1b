import { randomBytes } from 'node:crypto'
import { partsOf } from '@skillstead/core/internal'
import { afterEach, expect, it } from 'vitest'
import { bytesOf, skillMd } from '../support/answers.ts'
import { describeInTurn, type TestRegistry } from '../support/harness.ts'
import { endMirrors, openMirror, openUpstream } from '../support/mirror-harness.ts'
import { findDamage } from '../support/mirror-state.ts'
import { openS3Server } from '../support/s3-server.ts'

afterEach(endMirrors)

const s3 = await openS3Server()

async function countAt({ registry }: TestRegistry, place: 'waiting' | 'bucket'): Promise<number> {
  const { read } = partsOf(registry).database
  return (await read.selectFrom('blobs').select('digest').where('place', '=', place).execute()).length
}

describeInTurn('a mirror with a bucket of its own', (open, dialect) => {
  it('has the large files of its upstream, also those that it has from other versions', async () => {
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
})
