import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { makeFolder, skillstead } from '../support/cli-harness.ts'

const hook = ['webhooks', 'add', 'https://example.com/', '--events', 'user.followed', '--user', 'alice']

describe('standard input that does not end', () => {
  it.each([
    ['search', ['search', '--need', '-'], 'Describe the need in at most 2000 characters.'],
    ['external scan', ['external', 'scan', '-'], 'which is the maximum for a file.'],
    ['webhooks add', [...hook, '--secret-file', '-'], 'which is the maximum for a secret.'],
  ])('is read to a limit by %s', async (_, args, reason) => {
    const data = join(await makeFolder(), 'data')
    await skillstead(['users', 'create', 'alice', '--data', data])
    let chunksRead = 0
    const chunks = (function* () {
      for (; chunksRead < 10_000; chunksRead++) yield Buffer.alloc(64 * 1024, 'a')
    })()
    const stdin = Readable.from(chunks, { objectMode: false })
    const { code, stderr } = await skillstead([...args, '--data', data], { stdin })
    expect([code, stderr]).toEqual([2, expect.stringContaining(reason)])
    expect(chunksRead).toBeLessThan(1000)
  })
})
