import { randomBytes } from 'node:crypto'
import { partsOf } from '@skillstead/core/internal'
import { expect, it } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { startNode } from '../support/server-harness.ts'
import { fetchObjects, listRefs } from '../support/git-client.ts'
import { openS3Server } from '../support/s3-server.ts'

it('a clone contains large files that are stored in a bucket, and reads them in parts', async () => {
  const s3 = await openS3Server()
  const { registry, api, node } = await startNode({}, undefined, { blobs: s3.toOptions('git') })
  const contents = [20_000, 300_000, 1_000_000].map((length) => randomBytes(length))
  // Stored compressed, in several parts.
  contents.push(Buffer.from(randomBytes(700_000).toString('hex')))
  const files = contents.map((bytes, i) => ({
    path: `file-${i}`,
    content: bytes.toString('base64'),
    encoding: 'base64' as const,
  }))
  await api.publishSkill({ skillMd: skillMd('large'), files })
  const { read } = partsOf(registry).database
  const count = async () =>
    (await read.selectFrom('blobs').select('digest').where('place', '=', 'bucket').execute()).length
  await expect.poll(count).toBe(contents.length)
  const repository = `${node.url}/git/alice/large.git`
  const objects = await fetchObjects(repository, Object.values(await listRefs(repository)))
  const found = new Set([...objects.values()].map(({ bytes }) => bytes.toString('base64')))
  for (const bytes of contents) expect(found.has(bytes.toString('base64'))).toBe(true)
})
