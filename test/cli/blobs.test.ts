import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { localApi, systemCaller } from '@skillstead/core'
import { toDigest } from '@skillstead/skill-format/archives'
import { describe, expect, it } from 'vitest'
import { bytesOf, skillMd } from '../support/answers.ts'
import { makeFolder, skillstead, startServer } from '../support/cli-harness.ts'
import { openRegistry } from '../support/open-registry.ts'
import { openS3Server } from '../support/s3-server.ts'

const s3 = await openS3Server()
const weekMs = 7 * 86_400_000

/** A folder with a registry whose database has large files. */
async function makeRegistry(): Promise<{ data: string; contents: readonly Buffer[] }> {
  const data = await makeFolder()
  const registry = await openRegistry({ path: join(data, 'skillstead.db'), works: false })
  await localApi(registry, systemCaller).createUser({ username: 'alice' })
  const alice = localApi(registry, await registry.getCaller('alice'))
  const contents = [randomBytes(40_000), randomBytes(60_000)]
  for (const [i, bytes] of contents.entries())
    await alice.publishSkill({
      skillMd: skillMd(`tea-${i}`),
      files: [{ path: 'large.bin', content: bytes.toString('base64'), encoding: 'base64' }],
    })
  await registry.close()
  return { data, contents }
}

describe('skillstead blobs move', () => {
  it('moves large files to a bucket and back; nodes and other commands work while the files are in the bucket', async () => {
    const { data, contents } = await makeRegistry()
    const env = { ...s3.env, SKILLSTEAD_BLOBS: 's3://skills/cli' }
    const at = ['--data', data]
    expect((await skillstead(['blobs', 'move', ...at], { env })).stdout).toBe('Moved 2 files to the bucket.\n')
    const keys = contents.map((bytes) => toDigest(bytes).slice(7))
    expect((await s3.listKeys('cli')).toSorted()).toEqual([...keys, 'registry'].toSorted())
    const again = await skillstead(['blobs', 'move', '--json', ...at], { env })
    expect(JSON.parse(again.stdout)).toEqual({ count: 0, to: 'bucket' })

    const without = await skillstead(['doctor', ...at])
    expect(without).toMatchObject({ code: 1, stderr: expect.stringContaining('Pass it with --blobs') })
    expect((await skillstead(['doctor', '--deep', ...at], { env })).stdout).toContain(
      '2 contents are in the bucket, and 0 wait for it.',
    )
    const backup = join(await makeFolder(), 'backup.db')
    const saved = await skillstead(['backup', backup, ...at], { env })
    expect(saved.stdout).toContain('It does not contain 2 large files, which are in the bucket.')
    const restored = await makeFolder()
    expect((await skillstead(['restore', backup, '--data', join(restored, 'new')])).code).toBe(0)

    const refused = await skillstead(['serve', '--port', '0', ...at])
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('Pass it with --blobs') })
    const node = await startServer(['serve', '--port', '0', ...at], { env })
    const file = `${node.url}/api/v1/skills/tea-0/files/large.bin`
    expect(Buffer.from(await (await fetch(file)).arrayBuffer())).toEqual(contents[0])
    await node.stop()

    await s3.copyObject(`cli/${keys[0]}`, `cli/${'a'.repeat(64)}`)
    await s3.setTime(`cli/${'a'.repeat(64)}`, Date.now() - weekMs - 60_000)
    const cleaned = await skillstead(['gc', ...at], { env })
    expect(cleaned.stdout).toContain('removed 1 objects of the bucket without a row, 40.0 kB')
    const moved = await skillstead(['blobs', 'move', '--to-database', ...at], { env })
    expect(moved.stdout).toBe('Moved 2 files to the database.\n')
    const registry = await openRegistry({ path: join(data, 'skillstead.db') })
    for (const [i, bytes] of contents.entries()) {
      const read = await localApi(registry).getFile({ name: `tea-${i}`, path: 'large.bin' })
      expect(await bytesOf(read)).toEqual(bytes)
    }
    await registry.close()
  })

  it('reports a missing or invalid option, credential or bucket', async () => {
    const { data } = await makeRegistry()
    const run = (args: readonly string[], env: Record<string, string> = {}) =>
      skillstead(['blobs', 'move', '--data', data, ...args], { env: { ...s3.env, ...env } })
    const cases = [
      [await run([]), 1, 'Pass it with --blobs'],
      [await run(['--blobs', 'skills']), 1, 'This is not the URL of a bucket. Use the form s3://BUCKET'],
      [await run(['--blobs', 's3://skills/../x']), 1, 'This is not the URL of a bucket. Use the form s3://BUCKET'],
      [await run(['--blobs-endpoint', 'http://127.0.0.1:1']), 2, '--blobs-endpoint needs --blobs. Pass both.'],
      [
        await run(['--blobs', 's3://skills', '--blobs-endpoint', 'minio:9000']),
        2,
        '--blobs-endpoint is not an HTTP URL',
      ],
      [await run(['--blobs', 's3://skills'], { AWS_SECRET_ACCESS_KEY: '' }), 2, 'Set AWS_ACCESS_KEY_ID and AWS_SECRET'],
      [await run(['--blobs', 's3://missing']), 1, 'answered 404 NoSuchBucket. Create the bucket, or correct --blobs.'],
      [
        await run(['--blobs', 's3://skills', '--blobs-endpoint', 'http://127.0.0.1:1']),
        1,
        'The bucket s3://skills cannot be reached. The request to http://127.0.0.1:1 failed: the host refused the connection.',
      ],
    ] as const
    for (const [{ code, stdout, stderr }, wanted, text] of cases) {
      expect(stderr).toContain(text)
      expect({ code, stdout }).toEqual({ code: wanted, stdout: '' })
      expect(stderr).not.toMatch(/S3RVER|\n {4}at /)
    }
  })
})
