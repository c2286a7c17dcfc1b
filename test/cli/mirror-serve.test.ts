import { createClient } from '@skillstead/client'
import { describe, expect, it, vi } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { skillstead, startServer } from '../support/cli-harness.ts'
import { makeMirror, startCommand, waiting } from '../support/cli-mirror-acts.ts'
import { startNode } from '../support/server-harness.ts'

// A test runs several commands, each in a process of its own, and machines may be busy.
vi.setConfig({ testTimeout: 180_000 })

describe('skillstead mirror watch', () => {
  it('prints changes of an upstream as they arrive, until the command is interrupted', async () => {
    const { node, api } = await startNode()
    const { data, json } = await makeMirror()
    await json('add', 'main', node.url, '--every', '1s')
    await json('sync', 'main')
    const watch = startCommand(['mirror', 'watch', '--data', data, '--json'])
    const people = startCommand(['mirror', 'watch', '--data', data])
    await expect.poll(() => people.said.stderr, waiting).toBe('Watching main. Interrupt to stop.\n')
    await expect.poll(() => watch.said.stdout, waiting).toBe('{"event":"watching","upstreams":["main"]}\n')
    await api.publishSkill({ skillMd: skillMd('tea'), version: '1.2.0' })
    await expect.poll(() => watch.said.stdout, waiting).toContain('"event":"change"')
    await expect.poll(() => people.said.stdout, waiting).toMatch(/^\S+Z {2}main {2}version {2}alice\/tea@1\.2\.0\n$/)
    const events = watch.said.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { event: string })
    expect(events.filter(({ event }) => event === 'change')).toEqual([
      expect.objectContaining({ upstream: 'main', type: 'version', subject: 'alice/tea@1.2.0', version: '1.2.0' }),
    ])
    expect(await watch.stop()).toBe(0)
    expect(await people.stop()).toBe(0)
    expect(watch.said.stderr).toBe('')
  })
})

describe('skillstead serve', () => {
  it('syncs upstreams on schedule, reports them in /metrics, and shuts down gracefully', async () => {
    const { node, api } = await startNode()
    const { data, json } = await makeMirror()
    await json('add', 'main', node.url, '--every', '1s')
    const server = await startServer(['serve', '--port', '0', '--data', data])
    const here = createClient({ baseUrl: server.url })
    const find = (name: string) =>
      here.getSkill({ name }).then(
        ({ origin }) => origin.upstream,
        ({ code }: { code: string }) => code,
      )
    await expect.poll(() => find('alice/pdf'), waiting).toBe('main')
    await api.publishSkill({ skillMd: skillMd('tea') })
    await expect.poll(() => find('alice/tea'), waiting).toBe('main')
    expect(await (await fetch(`${server.url}/metrics`)).text()).toContain(
      'skillstead_mirror_alarm{upstream="main",code="none"} 0',
    )
    expect(await server.stop()).toBe(0)
  })

  it('sends no requests to upstreams in offline mode, and refuses an unknown network mode', async () => {
    const { node, get } = await startNode()
    const { data, json } = await makeMirror()
    await json('add', 'main', node.url, '--every', '1s', '--network', 'offline')
    const server = await startServer([
      'serve',
      '--port',
      '0',
      '--data',
      data,
      '--network',
      'offline',
      '--private-names',
      'acme/*',
    ])
    const { status } = await fetch(`${server.url}/api/v1/skills/alice%2Fpdf`)
    expect(status).toBe(503)
    expect(await server.stop()).toBe(0)
    expect((await json<{ upstreams: object[] }>('status')).upstreams).toMatchObject([{ syncedAt: null, skills: 0 }])
    expect((await get('/skills')).status, 'it was there to be asked').toBe(200)
    const wrong = await skillstead(['serve', '--data', data, '--network', 'sometimes'])
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("'sometimes' is not a valid network mode") })
  })
})
