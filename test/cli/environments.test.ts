import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, join } from 'node:path'
import { createClient } from '@skillstead/client'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { toChildEnvironment } from '../support/child-environment.ts'
import {
  mainFile,
  makeFolder,
  skillstead,
  skillsteadJson,
  skillsteadProcess,
  startServer,
  type Running,
} from '../support/cli-harness.ts'

import { openForwardProxy } from '../support/forward-proxy.ts'

const home = vi.hoisted(() => ({ isKnown: true }))
vi.mock('node:os', async (original) => {
  const os = await original<typeof import('node:os')>()
  const homedir = () => {
    if (home.isKnown) return os.homedir()
    throw new Error('A system error occurred: uv_os_homedir returned ENOENT (no such file or directory)')
  }
  return { ...os, homedir, default: { ...os, homedir } }
})

let server: Running
let key: string

beforeAll(async () => {
  const data = join(await makeFolder(), 'data')
  key = (await skillsteadJson<{ key: string }>(['users', 'create', 'alice', '--data', data])).key
  server = await startServer(['serve', '--port', '0', '--data', data])
  const api = createClient({ baseUrl: server.url, apiKey: key })
  await api.publishSkill({ skillMd: skillMd('tool'), version: '1.0.0' })
}, 120_000)
afterAll(() => server.stop())

describe('a key in an environment variable', () => {
  it.each(['\n', '\r\n', ' ', '\t', '\u00a0', '\ufeff'])('may have white space around it: %j', async (space) => {
    const env = { SKILLSTEAD_KEY: `${space}${key}${space}`, SKILLSTEAD_URL: `${server.url}${space}` }
    expect(await skillsteadJson(['whoami'], { env })).toMatchObject({ username: 'alice' })
    const client = createClient({ baseUrl: server.url, apiKey: `${space}${key}${space}` })
    expect(await client.getMe()).toMatchObject({ username: 'alice' })
  })

  it.each(['SKILLSTEAD_KEY', 'SKILLSTEAD_UPSTREAM_KEY'])(
    'that a header cannot contain is refused, and the error names only the variable: %s',
    async (name) => {
      const command =
        name === 'SKILLSTEAD_KEY'
          ? ['whoami', '--url', server.url]
          : ['mirror', 'add', 'up', server.url, '--data', await makeFolder()]
      const { code, stderr } = await skillstead(command, { env: { [name]: 'ssk_one two' } })
      expect([code, stderr]).toEqual([
        2,
        `${name} contains a character that a key cannot have, such as a space or a line break.\n`,
      ])
    },
  )
})

describe('DATABASE_URL', () => {
  it.each(['localhost/skills', 'mysql://root@localhost/skills', 'postgresql://u:p#@host/db', 'skills-db'])(
    'that names no PostgreSQL database is refused; the error shows the expected form, but not the value: %s',
    async (url) => {
      const { code, stderr } = await skillstead(['show', 'alice/tool'], { env: { DATABASE_URL: url } })
      expect([code, stderr]).toEqual([2, expect.stringContaining('postgresql://USER:PASSWORD@HOST:5432/DATABASE')])
      expect(stderr).not.toContain(url)
    },
  )

  it('is ignored with a message if the user has logged in to a node', async () => {
    const env = { XDG_CONFIG_HOME: await makeFolder(), DATABASE_URL: 'postgresql://u:secret@localhost/skills' }
    await skillstead(['login', '--url', server.url], { env, input: key })
    const { code, stderr } = await skillstead(['whoami'], { env })
    expect([code, stderr]).toEqual([
      0,
      `The node of your login, ${server.url}, is used, not DATABASE_URL: pass --database-url for that.\n`,
    ])
  })
})

describe('a user without a home folder', () => {
  beforeAll(() => {
    home.isKnown = false
  })
  afterAll(() => {
    home.isKnown = true
  })
  const none = { HOME: '', USERPROFILE: '', APPDATA: '', XDG_CONFIG_HOME: '', XDG_CACHE_HOME: '' }

  it.each([['search', 'tool'], ['show', 'alice/tool'], ['install', 'alice/tool', '--dir', 'here'], ['list']])(
    'can run %s',
    async (...command) => {
      const cwd = await makeFolder()
      const place = command[0] === 'list' ? [] : ['--url', server.url]
      expect(await skillstead([...command, ...place], { cwd, env: none })).toMatchObject({ code: 0 })
    },
  )

  it('gets the name of the variable to set if `login` or `verify` cannot save a file', async () => {
    const file = join(await makeFolder(), 'file')
    await writeFile(file, '')
    const env = { ...none, XDG_CONFIG_HOME: file }
    const sentence = `${join(file, 'skillstead')} cannot be written. Set XDG_CONFIG_HOME to a folder that this user can write.\n`
    const login = await skillstead(['login', '--url', server.url], { env, input: key })
    expect(login).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining(sentence) })
    const verified = await skillstead(['verify', 'alice/tool', '--url', server.url], { env })
    expect(verified).toMatchObject({ code: 0, stderr: expect.stringContaining(`not pinned: ${sentence}`) })
    expect(await readFile(file, 'utf8')).toBe('')
  })
})

describe('a proxy in an environment variable', () => {
  it('is used by commands, but not for the hosts of NO_PROXY', async () => {
    const asked: string[] = []
    const proxy = createServer((request, response) => {
      asked.push(request.url!)
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ skills: [], total: 0, page: 1, limit: 20, totalPages: 0 }))
    })
    await once(proxy.listen(0, '127.0.0.1'), 'listening')
    const env = { HTTP_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, NO_PROXY: '127.0.0.1' }
    const through = await skillsteadProcess(['search', 'x', '--url', 'http://skills.test'], { env })
    const past = await skillsteadProcess(['search', 'tool', '--url', server.url], { env })
    proxy.close()
    expect(asked).toEqual([expect.stringMatching(/^http:\/\/skills\.test\/api\/v1\/skills\?/)])
    expect([through.code, past.code, past.stdout]).toEqual([0, 0, expect.stringContaining('alice/tool')])
  })

  it('that does not respond is named in the error', async () => {
    const env = { https_proxy: 'http://127.0.0.1:1' }
    const { code, stderr } = await skillsteadProcess(['search', 'x', '--url', 'https://skills.test'], { env })
    expect([code, stderr]).toEqual([1, expect.stringContaining('https_proxy names a proxy.')])
  })

  it.each([
    ['http', { HTTP_PROXY: 'http://127.0.0.1:1', HTTPS_PROXY: 'http://127.0.0.1:2' }, 'HTTP_PROXY names a proxy.'],
    ['https', { HTTP_PROXY: 'http://127.0.0.1:1', HTTPS_PROXY: 'http://127.0.0.1:2' }, 'HTTPS_PROXY names a proxy.'],
    ['https', { http_proxy: '127.0.0.1:1', HTTP_PROXY: 'http://127.0.0.1:2' }, 'http_proxy names a proxy.'],
    ['http', { HTTPS_PROXY: 'http://127.0.0.1:1' }, undefined],
  ])('is named in the error by the variable that applies to %s: %j', async (scheme, env, named) => {
    const { stderr } = await skillstead(['search', 'x', '--url', `${scheme}://127.0.0.1:59999`], { env })
    expect(/\S+ names a proxy\./.exec(stderr)?.[0]).toBe(named)
  })

  it.each([
    [407, 'https', 'write them into its URL, http://USER:PASSWORD@HOST:PORT.'],
    [403, 'http', 'whether this network requires a sign-in.'],
    [403, 'https', 'allow the host in the proxy, or name it in NO_PROXY.'],
  ])('that answers %i over %s with a page is reported with advice', async (status, scheme, advice) => {
    const proxy = await openForwardProxy()
    onTestFinished(proxy.close)
    proxy.refusal = { status, page: '<html>Sign in</html>' }
    const env = { HTTP_PROXY: proxy.url }
    const { code, stderr } = await skillsteadProcess(['search', 'x', '--url', `${scheme}://skills.test`], { env })
    expect([code, stderr]).toEqual([1, expect.stringContaining(advice)])
    expect(stderr).not.toContain('<html>')
  })

  it('is used by a node for its upstreams', async () => {
    const proxy = await openForwardProxy(Number(new URL(server.url).port))
    onTestFinished(proxy.close)
    const data = join(await makeFolder(), 'data')
    const add = ['mirror', 'add', 'up', 'http://skills.test', '--data', data]
    const env = { HTTP_PROXY: proxy.url.replace('http://', '') }
    expect(await skillstead(add, { env })).toMatchObject({ code: 0 })
    expect(await skillstead(['mirror', 'sync', 'up', '--data', data], { env })).toMatchObject({ code: 0 })
    expect(proxy.requests).toContainEqual(expect.stringContaining('GET http://skills.test/api/v1/feed'))
  })

  it.each(['socks5://127.0.0.1:1', 'http://', 'http://a b'])(
    'with an invalid URL stops a node, and is not shown: %s',
    async (value) => {
      const serve = ['serve', '--port', '0', '--data', await makeFolder()]
      const expected = 'HTTPS_PROXY is not the URL of a proxy. Use the form http://HOST:PORT.\n'
      expect(await skillstead(serve, { env: { HTTPS_PROXY: value } })).toEqual({
        code: 2,
        stdout: '',
        stderr: expected,
      })
    },
  )

  it.each(['http://anna:secret@', 'http://a b:1', 'proxy.corp:port'])(
    'with an invalid URL does not stop commands that use no network: %s',
    async (HTTP_PROXY) => {
      const folder = await makeFolder()
      await writeFile(join(folder, 'SKILL.md'), `---\nname: ${basename(folder)}\ndescription: Reads.\n---\nReads.\n`)
      for (const args of [['--version'], ['--help'], ['lint', folder]]) {
        const { stdout, stderr } = await skillsteadProcess(args, { env: { HTTP_PROXY } })
        expect([stdout === '', stderr]).toEqual([false, ''])
      }
    },
  )

  it('without a scheme is an HTTP proxy', async () => {
    const env = { HTTP_PROXY: 'proxy.invalid:3128' }
    expect((await skillsteadProcess(['--version'], { env })).code).toBe(0)
    const { code, stderr } = await skillsteadProcess(['search', 'x', '--url', 'http://skills.test'], { env })
    expect([code, stderr]).toEqual([1, expect.stringContaining('HTTP_PROXY names a proxy.')])
  })

  it('with an invalid URL stops `login` and `verify`', async () => {
    const env = { https_proxy: 'http://a b:1' }
    const calls = [
      ['login', '--url', 'https://skills.test'],
      ['verify', 'alice/tool', '--url', 'https://skills.test'],
    ]
    for (const args of calls) {
      const { code, stderr } = await skillsteadProcess(args, { env, input: 'sk_test' })
      expect([code, stderr]).toEqual([2, 'https_proxy is not the URL of a proxy. Use the form http://HOST:PORT.\n'])
    }
  })

  it('with an invalid URL stops `search`, without the password in the error', async () => {
    const env = { HTTP_PROXY: 'http://anna:secret@' }
    const { code, stderr } = await skillsteadProcess(['search', 'tool', '--url', server.url], { env })
    expect([code, stderr]).toEqual([2, 'HTTP_PROXY is not the URL of a proxy. Use the form http://HOST:PORT.\n'])
  })
})

describe('standard output', () => {
  const node = JSON.stringify(process.execPath)
  const shell = (line: string) =>
    new Promise<{ code: number; stderr: string }>((resolve) => {
      const command = line.replaceAll('skillstead', `${node} --conditions=source ${JSON.stringify(mainFile)}`)
      execFile('bash', ['-c', `set -o pipefail; ${command}`], { env: toChildEnvironment({}) }, (error, _, stderr) =>
        resolve({ code: Number(error?.code ?? 0), stderr }),
      )
    })

  it.each(['skillstead --version', 'skillstead help', 'skillstead help serve', 'skillstead completion bash'])(
    'closed early by the next program of a pipe does not cause an error: %s | true',
    async (command) => {
      const { code, stderr } = await shell(`${command} | true`)
      expect(stderr).toBe('')
      expect([0, 141]).toContain(code)
    },
  )

  it.skipIf(!existsSync('/dev/full'))('on a full disk makes a command fail (only Linux has /dev/full)', async () => {
    for (const command of [
      'skillstead help',
      'skillstead --version',
      `skillstead show alice/tool --json --url ${server.url}`,
    ]) {
      const { code, stderr } = await shell(`${command} > /dev/full`)
      expect([command, code, stderr]).toEqual([
        command,
        1,
        expect.stringContaining('Standard output cannot be written: ENOSPC'),
      ])
      expect(stderr).not.toContain('    at ')
    }
  })
})
