import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { skillMd } from '../support/answers.ts'
import {
  makeFolder,
  skillstead,
  skillsteadJson,
  skillsteadProcess,
  startServer,
  type Running,
} from '../support/cli-harness.ts'

describe('skillstead login', { timeout: 180_000 }, () => {
  let server: Running
  let key: string
  let data: string
  let config: string
  let env: { XDG_CONFIG_HOME: string }
  const file = () => join(config, 'skillstead', 'credentials.json')
  beforeAll(async () => {
    data = join(await makeFolder(), 'data')
    config = join(await makeFolder(), 'config')
    env = { XDG_CONFIG_HOME: config }
    key = (await skillsteadJson<{ key: string }>(['users', 'create', 'alice', '--data', data])).key
    server = await startServer(['serve', '--port', '0', '--data', data])
  })
  afterAll(() => server.stop())
  const login = (input: string, start = skillstead) => start(['login', '--url', server.url], { env, input })

  it('saves only API keys that the node accepts, and sends only well-formed keys', async () => {
    expect(await login('')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('The API key is missing'),
    })
    expect((await login('two words\n')).stderr).toContain('is not an API key')
    expect((await login('ssk_wrong\n')).stderr).toContain('This API key is not valid')
    await expect(stat(file())).rejects.toThrow('ENOENT')
  })

  it('saves the key in a private file, and never prints it', async () => {
    await mkdir(join(config, 'skillstead'), { recursive: true, mode: 0o755 })
    const { code, stdout, stderr } = await login(`${key}\n`, skillsteadProcess)
    expect(code).toBe(0)
    expect(stdout).toMatch(
      /^Logged in to http:\/\/127\.0\.0\.1:\d+ as alice\. Commands use this node by default from now on\.\n/,
    )
    expect(stdout + stderr).not.toContain(key)
    expect((await stat(file())).mode & 0o777).toBe(0o600)
    expect((await stat(join(config, 'skillstead'))).mode & 0o777).toBe(0o700)
    expect(JSON.parse(await readFile(file(), 'utf8'))).toMatchObject({
      current: server.url,
      nodes: { [server.url]: { username: 'alice', key } },
    })
  })

  it('provides the node and key for commands without --url, and for other spellings of the URL of the node', async () => {
    const folder = await makeFolder()
    await writeFile(join(folder, 'SKILL.md'), skillMd('logged-in'))
    expect((await skillstead(['publish', folder], { env })).stdout).toBe('Published alice/logged-in@1.0.0.\n')
    const keys = await skillstead(['keys', 'list', '--url', `${server.url}/api/v1/`], { env })
    expect(keys).toMatchObject({ code: 0, stdout: expect.stringMatching(/\bread,publish,manage\b/) })
    const set = await skillstead(['search', 'logged'], { env: { SKILLSTEAD_URL: server.url } })
    expect(set.stdout).toContain('alice/logged-in@1.0.0')
    const files = await skillstead(['users', 'list', '--data', join(folder, 'nowhere')], { env })
    expect(files.stderr, 'files that are named go before the login').toContain('There is no registry in')
  })

  it('makes later commands send the saved key only to the node of the login', async () => {
    const elsewhere = server.url.replace('127.0.0.1', 'localhost')
    const refused = await skillstead(['keys', 'list', '--url', elsewhere], { env })
    expect(refused.code).toBe(1)
    expect(refused.stdout).toBe('')
    const typed = await skillstead(['keys', 'list', '--key', 'ssk_wrong'], { env })
    expect(typed.stderr, 'a key that is said goes before the kept one').toContain('This API key is not valid')
  })

  it('refuses a credentials file that other users can read, or that is invalid', async () => {
    await chmod(file(), 0o640)
    const open = await skillstead(['search', 'logged'], { env })
    expect(open).toMatchObject({ code: 1, stdout: '' })
    expect(open.stderr).toContain(`chmod 600 ${file()}`)
    expect((await skillstead(['search', 'logged', '--data', data], { env })).code, 'files need none').toBe(0)
    await chmod(file(), 0o600)
    const kept = await readFile(file())
    await writeFile(file(), '{')
    expect((await skillstead(['search', 'logged'], { env })).stderr).toMatch(/cannot be parsed\. Fix it, or delete it/)
    await writeFile(file(), kept)
  })

  it('is undone by `logout`, which does not revoke the key', async () => {
    const { stdout } = await skillstead(['logout'], { env })
    expect(stdout).toContain('was removed from this machine')
    expect(await readFile(file(), 'utf8')).not.toContain(key)
    const nowhere = await skillstead(['search', 'logged'], { env })
    expect(nowhere).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('skillstead login --url URL'),
    })
    expect(await skillsteadJson(['logout', '--url', server.url], { env })).toEqual({ url: server.url, username: null })
    expect((await skillstead(['keys', 'list', '--url', server.url, '--key', key], { env })).code).toBe(0)
  })

  it.each([
    [['login', '--data', 'x'], 'A registry in a folder needs no login'],
    [['login'], 'The node is missing'],
    [['login', '--url', 'localhost:7545'], 'is not the URL of a node'],
    [['search', 'x', '--url', 'https://user:pass@example.org'], 'is not the URL of a node'],
  ])('%j is a usage error in one sentence', async (args, sentence) => {
    const { code, stdout, stderr } = await skillstead(args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(sentence)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  })
})
