import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { partsOf } from '@skillstead/core/internal'
import { listenNode } from '@skillstead/server'
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { makeFolder, skillstead, skillsteadJson } from '../support/cli-harness.ts'
import { makeMirror, type Status } from '../support/cli-mirror-acts.ts'
import { createNoteSigner } from '../support/note-signer.ts'
import { makePlace } from '../support/places.ts'
import { startNode } from '../support/server-harness.ts'
import { openRegistry } from '../support/open-registry.ts'

// A test runs several commands, each in a process of its own, and machines may be busy.
vi.setConfig({ testTimeout: 180_000 })

describe('skillstead mirror', () => {
  it('adds an upstream node if only its URL is given, and imports the skills of the node', async () => {
    const { node, registry } = await startNode()
    const { data, run, json } = await makeMirror()
    const [key] = await registry.verifierKeys()
    const added = await run('add', 'main', `${node.url}/api/v1`)
    expect(added).toMatchObject({ code: 0, stderr: '' })
    expect(added.stdout).toContain(`${key!.vkey} (trusted on first use)`)
    expect(added.stdout).toMatch(
      /Compare it with the key that its operator publishes.*\nImport its skills: skillstead mirror sync main\n$/,
    )

    const first = await json<Record<string, unknown>>('sync', 'main')
    expect(Object.keys(first).slice(0, 3)).toEqual(['applied', 'requests', 'head'])
    expect(first).toMatchObject({ applied: 1, head: 1, upstream: 'main', refused: [], refusedTotal: 0 })
    expect(first.requests).toBeLessThanOrEqual(3)
    const again = await run('sync', 'main')
    expect(again).toMatchObject({ code: 0, stderr: '' })
    expect(again.stdout).toMatch(
      /^main: 0 changes imported\. Now at 1\.\n1 request, 0 bytes of content, \d+\.\d s\.\n$/,
    )

    const verified = await skillstead(['verify', 'alice/pdf', '--data', data])
    expect(verified).toMatchObject({ code: 0, stderr: '' })
    expect(verified.stdout, 'the log of the node proves it').toContain(
      `in the log of ${partsOf(registry).origin}, since`,
    )
    const status = await run('status', 'main')
    expect(status).toMatchObject({ code: 0, stderr: '' })
    expect(status.stdout).toMatch(
      /^main {2}node {2}http.*\n {2}state {3}current, synced 2\S+Z, next 2\S+Z\n {2}skills {2}1 skill here\n/,
    )
    expect(status.stdout).toContain(`log     ${partsOf(registry).origin}, 1 entries verified, 1 applied, signed 2`)
    expect((await run('list')).stdout).toMatch(/^main {2}node {2}http:\S+ {2}current, 1 skill\n$/)
  })

  it('stores the settings of an upstream until the upstream is removed, and keeps its imported skills afterwards', async () => {
    const { node, registry } = await startNode()
    const { data, run, json } = await makeMirror()
    const [key] = await registry.verifierKeys()
    const set = ['--mode', 'selected', '--select', 'alice/*', '--every', '6h', '--priority', '5', '--max-age', '0']
    const filters = [
      '--owner',
      'alice,bob',
      '--license',
      'MIT',
      '--min-score',
      '80',
      '--max-size',
      '200k',
      '--verified',
    ]
    const added = await json<Status>('add', 'main', node.url, '--key', key!.vkey, ...set, ...filters)
    expect(added.settings).toEqual({
      mode: 'selected',
      selected: ['alice/*'],
      everySeconds: 21_600,
      priority: 5,
      maxAgeSeconds: 0,
      pinned: true,
      filters: { owners: ['alice', 'bob'], licenses: ['MIT'], minSecurityScore: 80, sizeMax: 204_800, verified: true },
    })
    expect(added).toMatchObject({ kind: 'node', keys: [key!.vkey], state: 'new', alarm: null })
    const other = await run('add', 'main', node.url)
    expect(other).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining("There is already an upstream 'main'"),
    })
    expect(await json('remove', 'main')).toEqual({ removed: 'main' })
    expect(await json('list')).toEqual({ upstreams: [], total: 0 })
    expect((await run('list')).stdout).toBe('There are no upstreams yet.\n')
    expect((await run('sync', 'main')).stderr).toContain("There is no upstream 'main'")
    expect((await stat(data)).mode & 0o077).toBe(0)
  })

  it('detects that the location of an upstream is a folder of skills', async () => {
    const folder = join(await makeFolder(), 'our-skills')
    for (const name of ['tea', 'coffee']) {
      await mkdir(join(folder, name), { recursive: true })
      await writeFile(join(folder, name, 'SKILL.md'), skillMd(name))
    }
    const { data, run, json } = await makeMirror()
    expect(await json<Status>('add', 'ours', folder, '--owner', 'team')).toMatchObject({ kind: 'folder', keys: [] })
    expect(await json('sync', 'ours', '--network', 'offline')).toMatchObject({ applied: 2, requests: 0, head: 2 })
    await skillsteadJson(['users', 'create', 'bob', '--data', data])
    await json('add', 'again', folder, '--owner', 'bob')
    const { code, stdout } = await run('sync', 'again')
    expect(code).toBe(0)
    expect(stdout).toMatch(
      /^again: 0 changes imported, 2 refused\. Now at 2\.\n {2}refused bob\/\S+ \(owned_locally\): .*\n {2}refused /,
    )
  })

  it('does not add an unreachable upstream, and sends no requests in offline mode', async () => {
    const { node } = await startNode()
    const { run, json } = await makeMirror()
    const offline = await json<Status>('add', 'quiet', node.url, '--network', 'offline')
    expect(offline).toMatchObject({ kind: 'node', keys: [] })
    const sync = await run('sync', 'quiet', '--network', 'offline', '--json')
    expect(sync).toMatchObject({ code: 1, stdout: '' })
    expect(JSON.parse(sync.stderr)).toMatchObject({ error: { code: 'offline' } })
    await node.close()
    const key = createNoteSigner('origin.example').vkey
    for (const more of [[], ['--kind', 'node', '--key', key], ['--kind', 'git']]) {
      const away = await run('add', 'away', node.url, ...more)
      expect(away).toMatchObject({ code: 1, stdout: '' })
      expect(away.stderr).toMatch(
        /the host refused the connection\. Check that the server is running\. Nothing was added\. Check the address/,
      )
    }
    expect(await json('list')).toMatchObject({ total: 1, upstreams: [{ name: 'quiet' }] })
  })

  it('does not add an upstream whose owner would have a reserved name', async () => {
    const folder = await makeFolder()
    const { run, json } = await makeMirror()
    const added = await run('add', 'ours', folder, '--owner', 'admin')
    expect(added).toMatchObject({ code: 1, stdout: '' })
    expect(added.stderr).toContain("'admin' is a reserved name, which no owner can have on this node.")
    expect((await run('list')).stdout).toBe('There are no upstreams yet.\n')
    await json('add', 'ours', folder, '--owner', 'team')
    expect((await run('set', 'ours', '--owner', 'admin')).stderr).toContain("'admin' is a reserved name")
  })

  it('exits with 1 and a reason if an upstream is paused, and resumes syncing when the operator accepts the reason', async () => {
    const { node } = await startNode()
    const { run, json } = await makeMirror()
    await json('add', 'main', node.url)
    await json('sync', 'main')
    await node.close()
    const other = await openRegistry({ path: ':memory:', works: false })
    const impostor = await listenNode(other, { port: node.port, rates: 'off' })
    onTestFinished(async () => {
      await impostor.close()
      await other.close()
    })
    const stopped = await run('sync', 'main', '--json')
    expect(stopped).toMatchObject({ code: 1, stdout: '' })
    expect(JSON.parse(stopped.stderr)).toMatchObject({
      error: {
        detail: expect.stringMatching(/is paused \(origin\): The log was named .* --accept origin --key \S+`\.$/),
      },
    })
    const status = await run('status')
    expect(status.code).toBe(1)
    expect(status.stdout).toMatch(
      / {2}state {3}stopped, .*\n {2}stopped origin, 2\S+Z: .* mirror sync main --accept origin --key \S+\n/,
    )
    const wrong = await run('sync', 'main', '--accept', 'fork')
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('is paused (origin)') })
    const resumed = await run('resume', 'main')
    expect(resumed).toMatchObject({ code: 0, stderr: expect.stringMatching(/^Resuming from origin: /) })
    const idle = await run('resume', 'main')
    expect(idle).toMatchObject({ code: 1, stderr: "'main' is not paused. Sync it with `mirror sync main`.\n" })
  })

  it('stores the API key of an upstream encrypted, and the encryption key in a file that only its owner can read', async () => {
    const { node, key } = await startNode({ requireKey: true })
    const { data, json } = await makeMirror()
    await json('add', 'main', node.url, '--api-key', key)
    expect(await json('sync', 'main')).toMatchObject({ applied: 1 })
    expect((await stat(join(data, 'secret.key'))).mode & 0o777).toBe(0o600)
    expect((await readFile(join(data, 'skillstead.db'))).includes(key)).toBe(false)
    const other = { SKILLSTEAD_SECRET_KEY: Buffer.alloc(32, 7).toString('base64') }
    const { code, stderr } = await skillstead(['mirror', 'sync', 'main', '--data', data], { env: other })
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('encrypted with another secret key') })
    const none = await skillstead(['mirror', 'list', '--data', data], { env: { SKILLSTEAD_SECRET_KEY: 'short' } })
    expect(none).toMatchObject({
      code: 2,
      stderr: 'SKILLSTEAD_SECRET_KEY is not a secret key. Use 32 bytes in base64.\n',
    })
  })

  it.each([
    [['add', 'main'], 'URL|PATH is missing'],
    [['add', 'main', 'http://localhost', '--kind', 'ftp'], "'ftp' is not a valid kind of upstream. Use one of node,"],
    [
      ['add', 'main', 'http://localhost', '--every', 'often'],
      "'often' is not a time. Use a form such as 30s, 15m, 6h or 2d, or 0.",
    ],
    [['add', 'main', 'http://localhost', '--max-size', 'big'], "'big' is not a size"],
    [['add', 'main', 'http://localhost', '--min-score', '101'], "'101' is not a score"],
    [['add', 'main', 'http://localhost', '--priority', 'first'], "'first' is not a priority"],
    [['sync', 'main', '--accept', 'all'], "'all' is not a valid alarm. Use one of rollback,"],
    [
      ['sync', 'main', '--network', 'none'],
      "'none' is not a valid network mode. Use one of online, prefer-local, offline.",
    ],
    [['outbox', 'empty'], "'empty' is not a valid verb of the outbox. Use one of list, retry, drop, rename."],
    [['outbox', 'drop'], 'ID is missing. Usage: skillstead mirror outbox drop ID'],
    [['outbox', 'rename', 'x'], 'NAME is missing. Usage: skillstead mirror outbox rename ID NAME'],
    [['outbox', 'list', 'x'], "Unexpected argument 'x'"],
    [['link', 'main'], 'The user is missing. Pass --user USER.'],
  ])('%j is a usage error in one sentence', async (args, sentence) => {
    const { code, stdout, stderr } = await skillstead(['mirror', ...args, '--data', await makeFolder()])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(sentence)
  })

  it('requires an existing registry, and does not create a registry at a wrong path', async () => {
    const data = join(await makeFolder(), 'nowhere')
    const { code, stderr } = await skillstead(['mirror', 'list', '--data', data])
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `There is no registry in ${data}. Pass the folder of a registry with --data.\n`,
    })
    await expect(stat(data)).rejects.toMatchObject({ code: 'ENOENT' })
  })
})

const isMissing = inject('postgresUrl') === null
describe.skipIf(isMissing)(
  `on PostgreSQL${isMissing ? ': skipped, because PostgreSQL could not be started' : ''}`,
  () => {
    it('skillstead mirror adds and syncs an upstream, with the secret key from the environment', async () => {
      const { node, key } = await startNode({ requireKey: true })
      const { location, remove } = await makePlace('PostgreSQL')
      onTestFinished(remove)
      const place = ['--database-url', location.databaseUrl!]
      const env = { SKILLSTEAD_SECRET_KEY: Buffer.alloc(32, 7).toString('base64') }
      const add = ['mirror', 'add', 'main', node.url, '--api-key', key, ...place]
      const without = await skillstead(add)
      expect(without).toMatchObject({ code: 1, stderr: expect.stringContaining('SKILLSTEAD_SECRET_KEY') })
      await skillsteadJson(add, { env })
      expect(await skillsteadJson(['mirror', 'sync', 'main', ...place], { env })).toMatchObject({ applied: 1, head: 1 })
      const { upstreams } = await skillsteadJson<{ upstreams: Status[] }>(['mirror', 'status', ...place])
      expect(upstreams).toMatchObject([{ name: 'main', state: 'current', skills: 1 }])
    })
  },
)
