import { readFileSync, writeFileSync } from 'node:fs'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import type { Option } from '../../packages/cli/src/command/command.ts'
import { settings } from '../../packages/cli/src/serving/config-file.ts'
import { commandTable } from '../../packages/cli/src/program/command-table.ts'
import { ensureBuilt } from '../support/browser-windows.ts'
import { makeFolder, skillstead, startServer } from '../support/cli-harness.ts'

async function writeConfig(content: string) {
  const folder = await makeFolder()
  const [file, data] = [join(folder, 'node.toml'), join(folder, 'data')]
  await writeFile(file, content, { mode: 0o600 })
  return { folder, file, data }
}

/** What the node allows guests per minute, and clients of artifacts. */
async function readRates(url: string) {
  const read = async (path: string) => (await fetch(url + path)).headers.get('ratelimit-policy')
  return [await read('/api/v1/skills'), await read('/ada/.well-known/agent-skills/none-1.0.0.md')]
}

async function askMetrics(url: string, token: string): Promise<number> {
  // A request that a proxy hands on is not one of this machine.
  const headers = { 'x-forwarded-for': '192.0.2.1', authorization: `Bearer ${token}` }
  return (await fetch(`${url}/metrics`, { headers })).status
}

describe('a configuration file', () => {
  it('sets options of `serve` that neither the command line nor the environment sets', async () => {
    const { file, data } = await writeConfig(`
      port = 0
      rate-limits = { anonymous = 7, files = 8 }
      metrics-token = "of the file"
      private = false`)
    const first = await startServer(['serve', '--config', file, '--data', data])
    expect(await readRates(first.url)).toEqual(['"anonymous";q=7;w=60', '"files";q=8;w=60'])
    expect(await askMetrics(first.url, 'of the file')).toBe(200)
    await first.stop()
    const env = { SKILLSTEAD_METRICS_TOKEN: 'of the environment' }
    const serve = ['serve', '--config', file, '--data', data, '--rate-limits', 'files=9']
    const second = await startServer(serve, { env })
    expect(await readRates(second.url)).toEqual(['"anonymous";q=600;w=60', '"files";q=9;w=60'])
    expect([await askMetrics(second.url, 'of the environment'), await askMetrics(second.url, 'of the file')]).toEqual([
      200, 404,
    ])
    await second.stop()
    const secret = join(data, 'token')
    await writeFile(secret, 'of another file')
    const third = await startServer(['serve', '--config', file, '--data', data, '--metrics-token-file', secret])
    expect([await askMetrics(third.url, 'of another file'), await askMetrics(third.url, 'of the file')]).toEqual([
      200, 404,
    ])
    await third.stop()
  })

  it('sets the name, text and logo of the node; the environment and the command line override the file', async () => {
    const { file, data } = await writeConfig(`
      port = 0
      site-name = "Of the file"
      site-text = "A text of the file."`)
    await ensureBuilt()
    const logo = join(await makeFolder(), 'logo.svg')
    await writeFile(logo, '<svg xmlns="http://www.w3.org/2000/svg"/>')
    const serve = ['serve', '--config', file, '--data', data, '--site-logo', logo]
    const { url, stop } = await startServer(serve, { env: { SKILLSTEAD_SITE_NAME: 'Of the environment' } })
    const page = await (await fetch(url)).text()
    expect(page).toContain('<meta name="skillstead-site-name" content="Of the environment">')
    expect(page).toContain('<meta name="skillstead-site-text" content="A text of the file.">')
    expect(await (await fetch(`${url}/site-logo`)).text()).toContain('<svg')
    await stop()
  })

  it.each([
    ['missing.svg', undefined, 'cannot be read'],
    ['large.svg', '<svg>'.padEnd(300_000), 'is larger than 256 KiB'],
    ['logo.gif', 'GIF89a', 'neither an SVG nor a PNG file'],
  ])('ends `serve` for a logo that is no small SVG or PNG: %s', async (name, content, problem) => {
    const data = await makeFolder()
    const logo = join(data, name)
    if (content !== undefined) await writeFile(logo, content)
    const { code, stderr } = await skillstead(['serve', '--data', data, '--port', '0', '--site-logo', logo])
    expect([code === 0, stderr.trim().split('\n').length]).toEqual([false, 1])
    expect(stderr).toContain(problem)
  })

  it('names the folder of the registry, unless the command line does', async () => {
    const { folder, data } = await writeConfig('')
    const file = join(folder, 'with-data.toml')
    await writeFile(file, `port = 0\ndata = ${JSON.stringify(data)}`)
    const node = await startServer(['serve', '--config', file])
    await node.stop()
    expect((await skillstead(['key', '--data', data])).code).toBe(0)
    const other = join(folder, 'other')
    const next = await startServer(['serve', '--config', file, '--data', other])
    await next.stop()
    expect((await skillstead(['key', '--data', other])).stdout).not.toBe(
      (await skillstead(['key', '--data', data])).stdout,
    )
  })

  it.each([
    ['prot = 1', 'prot: this is not a setting of this command. docs/configuration.md lists the settings.'],
    ['port = true', 'port: must be an integer.'],
    ['port = 1.5', 'port: must be an integer.'],
    ['port = "abc"', "port: 'abc' is not a port. Use a number from 0 to 65535."],
    ['port = ', 'line 1: this is not TOML: invalid value.'],
    [
      'private = true\nport = 1\nport = 2',
      'line 3: this is not TOML: trying to redefine an already defined table or value.',
    ],
    ['private = "yes"', 'private: must be true or false.'],
    ['trusted-proxies = [1]', 'trusted-proxies: must be a string or an array of strings.'],
    ['rate-limits = { free = "x" }', 'rate-limits: must be a string or a table of integers.'],
    [
      'rate-limits = { free = 0 }',
      "rate-limits: 'free=0' is not a rate. Use the form free=60 with any of anonymous, free, pro, team, enterprise, files, mebibytes.",
    ],
    ['default-plan = "big"', 'default-plan: must be one of free, pro, team, enterprise.'],
    ['network = "moon"', "network: 'moon' is not a valid network mode. Use one of online, prefer-local, offline."],
    ['ca = "none.pem"', "ca: 'none.pem' cannot be read."],
    ['embeddings-url = "http://127.0.0.1"', 'embeddings-url: Pass both --embeddings-url and --embeddings-model.'],
    ['"a\\u001b[31m" = 1', 'a [31m: this is not a setting of this command. docs/configuration.md lists the settings.'],
  ])('with %j is refused, with the setting or line at fault', async (content, problem) => {
    const { file, data } = await writeConfig(content)
    const serve = ['serve', '--config', file, '--data', data]
    expect(await skillstead(serve)).toEqual({ code: 2, stdout: '', stderr: `${file}, ${problem}\n` })
  })

  it('is not named in the error about an invalid option of the command line', async () => {
    const { file, data } = await writeConfig('private = true')
    const { stderr } = await skillstead(['serve', '--config', file, '--data', data, '--port', 'abc'])
    expect(stderr).toBe("'abc' is not a port. Use a number from 0 to 65535.\n")
  })

  it('is refused if it cannot be read or is a folder', async () => {
    const { folder, data } = await writeConfig('')
    for (const file of [join(folder, 'none.toml'), folder]) {
      const refused = await skillstead(['serve', '--config', file, '--data', data])
      expect(refused).toEqual({ code: 2, stdout: '', stderr: `'${file}' cannot be read.\n` })
    }
  })

  it('cannot set the data folder of `start`', async () => {
    const { file } = await writeConfig('data = "x"')
    const { code, stderr } = await skillstead(['start', '--config', file])
    expect([code, stderr]).toEqual([2, expect.stringContaining('data: this is not a setting of this command.')])
  })

  it.skipIf(process.platform === 'win32')('containing a secret causes a warning if all users can read it', async () => {
    const { file, data } = await writeConfig('port = 0\nmetrics-token = "secret-of-metrics"')
    const warning = `All users of this machine can read ${file}, which contains metrics-token. Run: chmod o-r ${file}`
    const said: string[] = []
    for (const mode of [0o600, 0o640, 0o644]) {
      await chmod(file, mode)
      const node = await startServer(['serve', '--config', file, '--data', data])
      await node.stop()
      said.push(node.said())
    }
    expect(said.map((one) => one.includes(warning))).toEqual([false, false, true])
    expect(said.join('')).not.toContain('secret-of-metrics')
  })
})

/** The type of a setting, by the values that its schema accepts. */
function toType(schema: v.GenericSchema): string {
  const types = [
    [true, 'boolean'],
    [1, 'integer'],
    [['a'], 'string or array of strings'],
    [{ a: 1 }, 'string or table of integers'],
  ] as const
  return types.find(([value]) => v.is(schema, value))?.[1] ?? 'string'
}

it('the help of `serve` omits the options meant for a configuration file, and the command line accepts these options', async () => {
  const { stdout } = await skillstead(['serve', '--help'])
  expect(stdout).toMatch(/--config <FILE> [^]*--port <PORT> [^]*--json-logs /)
  expect(stdout).not.toMatch(/--(?:embeddings|second-opinion|connection-limits|gateways)/)
  const { stderr } = await skillstead(['serve', '--data', 'none', '--gateways', 'nothing'])
  expect(stderr).toMatch(/^'nothing' is not a gateway\. /)
})

function toVariables({ env = 'DATABASE_URL', hostEnv }: Option): string {
  return [env, ...(hostEnv ? [hostEnv.name] : [])].map((name) => `\`${name}\``).join(', ')
}

describe('an environment variable', () => {
  it('sets an option of a node that the command line does not set', async () => {
    const data = join(await makeFolder(), 'data')
    const env = { SKILLSTEAD_RATE_LIMITS: 'anonymous=7', SKILLSTEAD_PRIVATE: 'true', SKILLSTEAD_DATA: data, PORT: '0' }
    const node = await startServer(['serve', '--rate-limits', 'anonymous=8'], {
      env: { ...env, HOST: 'build-machine' },
    })
    const response = await fetch(`${node.url}/api/v1/skills`)
    expect([response.status, response.headers.get('ratelimit-policy')]).toEqual([401, '"anonymous";q=8;w=60'])
    await node.stop()
    expect((await skillstead(['key', '--data', data])).code).toBe(0)
  })

  it('overrides the configuration file, and SKILLSTEAD_PORT overrides PORT', async () => {
    const { file, data } = await writeConfig('port = 1\nrate-limits = "anonymous=9"\nprivate = true')
    const env = { PORT: '1', SKILLSTEAD_PORT: '0', SKILLSTEAD_PRIVATE: 'false', SKILLSTEAD_CONFIG: file }
    const node = await startServer(['serve', '--data', data], { env })
    expect((await fetch(`${node.url}/api/v1/skills`)).status).toBe(200)
    expect(await readRates(node.url)).toEqual(['"anonymous";q=9;w=60', expect.anything()])
    await node.stop()
  })

  it.each(['tcp://10.0.0.1:80', ' udp://10.0.0.1:80', 'tcp://[fd00::1]:80'])(
    'named SKILLSTEAD_PORT is ignored with a message if Kubernetes set the variable for a Service: %j',
    async (link) => {
      const { data } = await writeConfig('')
      const node = await startServer(['serve', '--data', data], { env: { PORT: '0', SKILLSTEAD_PORT: link } })
      expect(new URL(node.url).port).not.toBe('80')
      const { port } = new URL(node.url)
      const health = await skillstead(['health'], { env: { PORT: port, SKILLSTEAD_PORT: link } })
      expect(health).toMatchObject({ code: 0, stdout: `${node.url}: ready\n` })
      await node.stop()
      expect(node.said()).toContain('SKILLSTEAD_PORT is ignored: Kubernetes set it')
    },
  )

  it('named HOST sets the address on which a node listens, if the value is an IP address', async () => {
    const { data } = await writeConfig('')
    const serve = ['serve', '--port', '0', '--data', data]
    const { code, stderr } = await skillstead(serve, { env: { HOST: '192.0.2.1' } })
    expect([code, stderr]).toEqual([1, expect.stringContaining('Cannot listen on 192.0.2.1')])
  })

  it.each([
    [{ SKILLSTEAD_PRIVATE: 'yes' }, 'SKILLSTEAD_PRIVATE must be one of true, false.'],
    [{ SKILLSTEAD_DEFAULT_PLAN: 'big' }, 'SKILLSTEAD_DEFAULT_PLAN must be one of free, pro, team, enterprise.'],
    [{ PORT: 'abc' }, "'abc' is not a port. Use a number from 0 to 65535."],
    [{ SKILLSTEAD_PORT: 'http://a:80' }, "'http://a:80' is not a port. Use a number from 0 to 65535."],
  ])('with a wrong value is refused: %j', async (env, problem) => {
    const { data } = await writeConfig('')
    const refused = await skillstead(['serve', '--data', data], { env })
    expect(refused).toEqual({ code: 2, stdout: '', stderr: `${problem}\n` })
  })
})

it('the settings of configuration files are the options of `serve`, and docs/configuration.md lists the settings', async () => {
  const { options = {} } = await commandTable.find(({ name }) => name === 'serve')!.load()
  const { config: _, ...settable } = options
  expect(Object.keys(settings).toSorted()).toEqual(Object.keys(settable).toSorted())
  const rows = Object.entries<v.GenericSchema>(settings).map(
    ([name, schema]) =>
      `| \`${name}\` | ${toType(schema)} | ${toVariables(settable[name]!)} | ${settable[name]!.help.replaceAll('|', String.raw`\|`)} |`,
  )
  const path = join(import.meta.dirname, '../../docs/configuration.md')
  const stored = readFileSync(path, 'utf8')
  const listed = `${stored.slice(0, stored.indexOf('|---|---|---|---|\n'))}|---|---|---|---|\n${rows.join('\n')}\n`
  if (process.env['WRITE_DOCS']) writeFileSync(path, listed)
  expect(readFileSync(path, 'utf8'), 'Run this test with WRITE_DOCS=1.').toBe(listed)
})
