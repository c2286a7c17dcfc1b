import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { makeFolder, skillstead, skillsteadJson, startServer, startServerProcess } from '../support/cli-harness.ts'

vi.setConfig({ testTimeout: 120_000 })
const waiting = { timeout: 60_000, interval: 100 }

interface Entry {
  readonly id: string
  readonly action: string
  readonly subject: string
}

const toEntries = (text: string) =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Entry)

let data: string
let file: string
let serve: string[]
beforeEach(async () => {
  const folder = await makeFolder()
  data = join(folder, 'data')
  file = join(folder, 'audit.ndjson')
  serve = ['serve', '--port', '0', '--data', data, '--audit-log', file]
})

const create = (name: string) => skillsteadJson(['users', 'create', name, '--data', data])
const readFileEntries = async (path = file) => toEntries(await readFile(path, 'utf8').catch(() => ''))
const subjects = async (path = file) =>
  (await readFileEntries(path)).filter(({ action }) => action === 'user.create').map(({ subject }) => subject)

describe('serve --audit-log FILE', () => {
  it('appends every entry once and in order, including entries made before its first start and while it was stopped', async () => {
    await create('ann')
    const node = await startServer(serve)
    await expect.poll(() => subjects(), waiting).toEqual(['ann'])
    await create('bob')
    await expect.poll(() => subjects(), waiting).toEqual(['ann', 'bob'])
    expect(await node.stop()).toBe(0)
    await create('cleo')
    const again = await startServer(serve)
    await expect.poll(() => subjects(), waiting).toEqual(['ann', 'bob', 'cleo'])
    await again.stop()
    const exported = await skillstead(['audit', '--json-lines', '--data', data])
    expect(await readFileEntries()).toEqual(toEntries(exported.stdout))
  })

  it('continues in a new file after a rotation', async () => {
    const node = await startServer(serve)
    await create('ann')
    await expect.poll(() => subjects(), waiting).toEqual(['ann'])
    await rename(file, `${file}.1`)
    await create('bob')
    await expect.poll(() => subjects(), waiting).toEqual(['bob'])
    expect(await subjects(`${file}.1`)).toEqual(['ann'])
    await node.stop()
  })

  it('loses no entry when its process is killed', async () => {
    const node = await startServerProcess(serve)
    await create('ann')
    await node.stop('SIGKILL')
    await create('bob')
    const again = await startServer(serve)
    await expect.poll(async () => [...new Set(await subjects())], waiting).toEqual(['ann', 'bob'])
    await again.stop()
  })

  it('starts a new line after a line that a crash truncated', async () => {
    await create('ann')
    await writeFile(file, '{"id":"cut')
    const node = await startServer(serve)
    await node.stop()
    const [cut, ...lines] = (await readFile(file, 'utf8')).trimEnd().split('\n')
    expect(cut).toBe('{"id":"cut')
    expect(toEntries(lines.join('\n')).map(({ subject }) => subject)).toContain('ann')
  })

  it('serves while the file cannot be written, and appends the missing entries afterwards', async () => {
    const later = join(file, '..', 'later')
    file = join(later, 'audit.ndjson')
    const node = await startServer([...serve.slice(0, -1), file])
    await create('ann')
    await expect.poll(() => node.said(), waiting).toContain('The audit log is not written')
    expect((await fetch(`${node.url}/readyz`)).status).toBe(200)
    await mkdir(later)
    await expect.poll(() => subjects(), waiting).toEqual(['ann'])
    await node.stop()
    expect(node.said().match(/not written/g), 'one warning').toHaveLength(1)
  })

  it('does not start if FILE is a folder, or if the stored position in the log is damaged', async () => {
    await mkdir(file)
    const folder = await skillstead(serve)
    expect(folder).toMatchObject({ code: 2, stderr: expect.stringContaining('audit.ndjson is not a file') })
    const other = `${file}.2`
    await writeFile(`${other}.position`, '{"seq":"x"}')
    const damaged = await skillstead([...serve.slice(0, -1), other])
    expect(damaged).toMatchObject({ code: 2, stderr: expect.stringContaining('is damaged. Delete it') })
  })
})

describe('serve --audit-log -', () => {
  it('prints only the entries made after its start', async () => {
    await create('ann')
    const node = await startServer([...serve.slice(0, -1), '-'])
    await create('bob')
    await expect.poll(() => node.said(), waiting).toContain('"subject":"bob"')
    expect(node.said()).not.toContain('"subject":"ann"')
    await node.stop()
  })
})

describe('skillstead audit', () => {
  beforeEach(async () => {
    for (const name of ['ann', 'bob']) await create(name)
  })

  it('lists the entries newest first, with filters', async () => {
    const { stdout } = await skillstead(['audit', '--action', 'user.', '--data', data])
    expect(stdout).toMatch(/Z {2}system {2}user\.create {2}bob\n.*user\.create {2}ann\n2 of 2\.\n$/)
    const found = await skillsteadJson<{ total: number }>(['audit', '--subject', 'ann', '--data', data])
    expect(found.total).toBe(1)
    expect((await skillstead(['audit', '--until', '2001-01-01', '--data', data])).stdout).toBe('0 of 0.\n')
  })

  it('prints JSON lines, oldest first', async () => {
    const { stdout } = await skillstead(['audit', '--json-lines', '--action', 'user.create', '--data', data])
    expect(toEntries(stdout).map(({ subject }) => subject)).toEqual(['ann', 'bob'])
    expect(stdout.endsWith('\n')).toBe(true)
  })

  it.each([
    ['--since', 'yesterday'],
    ['--page', 'x'],
  ])('refuses %s %s', async (option, value) => {
    const { code, stderr } = await skillstead(['audit', option, value, '--data', data])
    expect(code).toBe(1)
    expect(stderr).toContain(option.slice(2))
  })
})
