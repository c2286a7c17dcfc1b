import { execFile } from 'node:child_process'
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it, vi } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { makeFolder, skillstead, skillsteadJson, skillsteadProcess } from '../support/cli-harness.ts'
import { makeMirror, type Status } from '../support/cli-mirror-acts.ts'
import { startNode } from '../support/server-harness.ts'

// A test runs several commands, each in a process of its own, and machines may be busy.
vi.setConfig({ testTimeout: 180_000 })

interface Details extends Status {
  hasApiKey: boolean
  account: string | null
  linked: { user: string; username: string | null }[]
  refusals: { subject: string; reason: string; detail: string; at: string }[]
}

describe('the mirror commands', () => {
  it('refuse to add an upstream whose location does not exist or is not supported', async () => {
    const { run, json } = await makeMirror()
    const slips: [location: string, sentence: RegExp][] = [
      ['', /^The location is missing\. Pass a URL or a path\.\n$/],
      [
        'skills.example.com',
        /^There is no folder \/.*skills\.example\.com\. To add a URL, start it with https:\/\/\.\n$/,
      ],
      ['/nowhere/skills', /^There is no folder \/nowhere\/skills\./],
      ['file:///nowhere/skills', /^There is no folder \/nowhere\/skills\./],
      ['/nowhere/skills.bundle', /^There is no file \/nowhere\/skills\.bundle\./],
      ['ftp://skills.example.com', /^'ftp:\/\/skills\.example\.com' is not a supported location\. /],
    ]
    for (const [location, sentence] of slips) {
      expect([location, await run('add', 'main', location)]).toEqual([
        location,
        { code: 1, stdout: '', stderr: expect.stringMatching(sentence) },
      ])
    }
    expect(await json('list')).toEqual({ upstreams: [], total: 0 })
  })

  it('accept the file: URL of a folder as the location of an upstream', async () => {
    const folder = join(await makeFolder(), 'our-skills')
    await mkdir(join(folder, 'tea'), { recursive: true })
    await writeFile(join(folder, 'tea', 'SKILL.md'), skillMd('tea'))
    const { json } = await makeMirror()
    expect(await json('add', 'ours', `file://${folder}`)).toMatchObject({ kind: 'folder', location: folder })
    expect(await json('sync', 'ours')).toMatchObject({ applied: 1 })
  })

  it('imply the mode `selected` with --select, and refuse --select with another mode', async () => {
    const { node } = await startNode()
    const { run, json } = await makeMirror()
    const added = await json<Status>('add', 'main', node.url, '--select', 'bob/*')
    expect(added.settings).toMatchObject({ mode: 'selected', selected: ['bob/*'] })
    const both = await run('add', 'other', node.url, '--select', 'bob/*', '--mode', 'full')
    expect(both).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('takes no list of names. Use the mode `selected`'),
    })
    const long = await run('add', 'other', node.url, '--every', '400d')
    expect(long).toMatchObject({ code: 2, stderr: expect.stringContaining("'400d' is too long for --every") })
  })

  it('distinguish a wrong API key from a missing API key', async () => {
    const { node } = await startNode({ requireKey: true })
    const { run } = await makeMirror()
    const none = await run('add', 'main', node.url)
    expect(none.stderr).toMatch(/The server requires an API key: pass --api-key KEY\.\n$/)
    const wrong = await run('add', 'main', node.url, '--api-key', 'ssk_wrong')
    expect(wrong).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/The server requires another API key: pass --api-key KEY\.\n$/),
    })
    expect(wrong.stderr).not.toContain('ssk_wrong')
    const torn = await run('add', 'main', node.url, '--api-key', 'two words')
    expect(torn.stderr).toBe(
      'The API key is invalid: it contains spaces, line breaks or other characters that no key has.\n',
    )
  })

  it('refuse to open a database file that is not a registry', async () => {
    const data = await makeFolder()
    await writeFile(join(data, 'skillstead.db'), 'This is a letter. '.repeat(1000))
    const { code, stderr } = await skillstead(['mirror', 'list', '--data', data])
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'skillstead.db in this folder is not a registry, or is damaged. Restore it from a backup.\n',
    })
  })
})

describe('skillstead mirror', () => {
  it('changes only the given settings of an upstream', async () => {
    const { node, key } = await startNode({ requireKey: true })
    const { data, run, json, runWith } = await makeMirror()
    const env = { SKILLSTEAD_UPSTREAM_KEY: 'ssk_for_another' }
    await runWith({ input: `${key}\n` }, 'add', 'main', node.url, '--api-key', '-', '--name', 'tea', '--priority', '3')
    expect(await json('sync', 'main')).toMatchObject({ applied: 0 })
    const sooner = await runWith({ env }, 'set', 'main', '--every', '1h')
    expect(sooner).toMatchObject({ code: 0, stderr: '' })
    expect(sooner.stdout).toMatch(/Next: skillstead mirror sync main\n$/)
    const [before] = (await json<{ upstreams: Status[] }>('status', 'main')).upstreams
    expect(before!.settings).toMatchObject({ everySeconds: 3600, priority: 3, filters: { names: ['tea'] } })
    expect(await json('sync', 'main'), 'the key is the one that was given for it').toMatchObject({ applied: 0 })

    expect(await json('set', 'main', '--no-filters')).toMatchObject({ next: 'skillstead mirror sync main --full' })
    expect(await json('sync', 'main', '--full')).toMatchObject({ applied: 1 })
    const moved = await run('set', 'main', '--location', 'nowhere')
    expect(moved).toMatchObject({ code: 1, stderr: expect.stringContaining("'nowhere' is not a valid URL") })
    await json('set', 'main', '--api-key', 'ssk_withdrawn')
    expect((await run('sync', 'main')).code).toBe(1)
    expect((await run('status')).stdout).not.toContain('ssk_')
    expect((await readFile(join(data, 'skillstead.db'))).includes('ssk_withdrawn')).toBe(false)
    expect(await run('set', 'main')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Nothing to change'),
    })
    expect(await run('set', 'unknown-user', '--every', '1h')).toMatchObject({ code: 1, stdout: '' })
  })

  it('shows the linked users, and the refused entries with the reasons, in its status after a sync', async () => {
    const { node, key, api } = await startNode()
    await api.publishSkill({ skillMd: skillMd('tea') })
    const { data, run, json, runWith } = await makeMirror()
    for (const user of ['alice', 'anna']) await skillsteadJson(['users', 'create', user, '--data', data])
    await json('add', 'main', node.url)
    await json('sync', 'main')
    const late = await runWith({ input: key }, 'link', 'main', '--user', 'unknown-user')
    expect(late).toMatchObject({ code: 1, stderr: "There is no user 'unknown-user'.\n" })
    const env = { SKILLSTEAD_UPSTREAM_KEY: 'ssk_of_the_operator' }
    const linked = await runWith({ input: key, env }, 'link', 'main', '--user', 'anna')
    expect(linked, 'the key is the one that came in').toMatchObject({ code: 0, stdout: 'anna is alice at main.\n' })
    const [status] = (await json<{ upstreams: Details[] }>('status', 'main')).upstreams
    expect(status).toMatchObject({ hasApiKey: false, account: null, linked: [{ user: 'anna', username: 'alice' }] })
    expect(status!.refusals.map(({ reason }) => reason)).toEqual(['owned_locally', 'owned_locally'])
    const { stdout } = await run('status', 'main')
    expect(stdout).toMatch(/\n {2}skills {2}0 skills here, 2 refused\n/)
    expect(stdout).toMatch(/\n {2}linked {2}anna as alice\n/)
    expect(stdout).toMatch(/\n {2}refused alice\/\S+ \(owned_locally\): /)
    expect((await run('status')).stdout, 'of all, only how many').not.toContain('(owned_locally)')
  })

  it('takes the name of the log of the mirror from --origin at the first sync', async () => {
    const { node } = await startNode()
    const { data, run, json } = await makeMirror()
    await json('add', 'main', node.url, '--origin', 'skills.office.example')
    await json('sync', 'main', '--origin', 'skills.office.example')
    const { stdout } = await skillstead(['key', '--data', data])
    expect(stdout).toMatch(/^skills\.office\.example\+/)
    const other = await run('sync', 'main', '--origin', 'other.example')
    expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining("is named 'skills.office.example'") })
    expect(await run('sync', 'main', '--origin', 'a b')).toMatchObject({ code: 2 })
  })
})

describe('the secret key of a registry', () => {
  it('is written to its file completely or not at all', async () => {
    const data = await makeFolder()
    const main = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url))
    // No file may grow: as on a full disk.
    const line =
      'ulimit -f 0; exec "$0" --conditions=source "$1" mirror add main https://skills.example.com --network offline --data "$2"'
    const full = promisify(execFile)('sh', ['-c', line, process.execPath, main, data])
    await expect(full).rejects.toMatchObject({ code: 1, stdout: '' })
    expect(await readdir(data)).toEqual([])
    const add = ['mirror', 'add', 'main', 'https://skills.example.com', '--network', 'offline', '--data', data]
    expect(await skillsteadJson(add)).toMatchObject({ name: 'main' })
  })

  it('is the same for all processes that create it concurrently', async () => {
    const data = await makeFolder()
    const add = (name: string) =>
      skillsteadProcess([
        'mirror',
        'add',
        name,
        'https://skills.example.com',
        '--api-key',
        `ssk_${name}`,
        '--network',
        'offline',
        '--data',
        data,
      ])
    const added = await Promise.all(['a', 'b', 'c', 'd'].map(add))
    for (const { code, stderr } of added) expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect((await readdir(data)).filter((file) => file.startsWith('secret'))).toEqual(['secret.key'])
  })
})
