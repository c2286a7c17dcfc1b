import { join } from 'node:path'
import { localApi } from '@skillstead/core'
import { describe, expect, it, vi } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { skillsteadJson } from '../support/cli-harness.ts'
import { makeMirror } from '../support/cli-mirror-acts.ts'
import { startNode } from '../support/server-harness.ts'
import { openRegistry } from '../support/open-registry.ts'

// A test runs several commands, each in a process of its own, and machines may be busy.
vi.setConfig({ testTimeout: 180_000 })

describe('skillstead mirror outbox', () => {
  it('shows pending writes, and sends each write with the API key of the user who made it', async () => {
    const { node, key, registry } = await startNode()
    const { data, run, json } = await makeMirror()
    await json('add', 'main', node.url)
    await json('sync', 'main')
    expect((await run('outbox', 'list')).stdout).toBe('There are no writes to list.\n')
    await skillsteadJson(['users', 'create', 'anna', '--data', data])
    const linked = await run('link', 'main', '--user', 'anna', '--upstream-key', key)
    expect(linked).toMatchObject({ code: 0, stdout: 'anna is alice at main.\n', stderr: '' })
    const own = await openRegistry({ path: join(data, 'skillstead.db'), works: false })
    const anna = localApi(own, await own.getCaller('anna'))
    await anna.starSkill({ name: 'alice/pdf' })
    await own.close()
    const { writes, total } = await json<{ writes: { id: string; kind: string }[]; total: number }>('outbox', 'list')
    expect({ writes, total }).toMatchObject({
      total: 1,
      writes: [{ upstream: 'main', subject: 'alice/pdf', kind: 'star', user: 'anna', state: 'pending', attempts: 0 }],
    })
    expect((await run('outbox', 'list')).stdout).toMatch(
      /^\S+ {2}pending {2}star alice\/pdf at main\n {2}by anna, 2\S+Z\n$/,
    )
    const sent = await run('outbox', 'retry')
    expect(sent).toMatchObject({ code: 0, stdout: '1 delivered, 0 waiting.\n', stderr: '' })
    expect((await localApi(registry).getSkill({ name: 'alice/pdf' })).stars).toBe(1)
    expect(await json('unlink', 'main', '--user', 'anna')).toEqual({ user: 'anna', upstream: 'main' })
    const settled = await run('outbox', 'drop', writes[0]!.id)
    expect(settled).toMatchObject({ code: 1, stderr: 'This write is already delivered, which is final.\n' })
  })

  it('exits with 1 if a write could not be sent, and explains how to resolve a conflict', async () => {
    const { node, key, api, registry } = await startNode()
    const { data, run, json, runWith } = await makeMirror()
    await json('add', 'main', node.url)
    await json('sync', 'main')
    await skillsteadJson(['users', 'create', 'anna', '--data', data])
    await runWith({ input: key }, 'link', 'main', '--user', 'anna')
    const own = await openRegistry({ path: join(data, 'skillstead.db'), works: false })
    await localApi(own, await own.getCaller('anna')).publishSkill({ skillMd: skillMd('tea'), version: '1.0.0' })
    await own.close()
    await api.publishSkill({ skillMd: `${skillMd('tea')}\nWarm the pot.\n`, version: '1.0.0' })
    const unknown = await run('outbox', 'retry', '--upstream', 'other')
    expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining("There is no upstream 'other'") })

    const stuck = await run('outbox', 'retry')
    expect(stuck).toMatchObject({
      code: 1,
      stdout: '0 delivered, 0 waiting, 1 in conflict. Run `mirror outbox list` to see why.\n',
      stderr: '',
    })
    const { stdout } = await run('outbox', 'list')
    expect(stdout).toMatch(/^\S+ {2}conflict {2}publish anna\/tea@1\.0\.0 at main, there alice\/tea\n.*, tried once\n/)
    expect(stdout).toMatch(/\nResolve conflicts with: mirror outbox retry ID, drop ID, or rename ID NAME\.\n$/)
    const { writes } = await json<{ writes: [{ id: string }] }>('outbox', 'list')
    const [{ id }] = writes
    const again = await run('outbox', 'retry', id)
    expect(again).toMatchObject({ code: 1, stdout: expect.stringMatching(`^In conflict: ${id}\\.\n`) })
    const renamed = await run('outbox', 'rename', id, 'annas-tea')
    expect(renamed).toMatchObject({ code: 0, stdout: `Delivered: ${id}.\n1 delivered, 0 waiting.\n`, stderr: '' })
    expect(await localApi(registry).getSkill({ name: 'alice/annas-tea' })).toMatchObject({ latestVersion: '1.0.0' })
  })
})
