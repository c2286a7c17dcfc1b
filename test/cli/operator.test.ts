import { existsSync } from 'node:fs'
import { chmod, mkdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createClient } from '@skillstead/client'
import SqliteDatabase from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { makeFolder, skillstead, skillsteadJson, startServer } from '../support/cli-harness.ts'

describe('the first user of a node', () => {
  it('is created with the setup code that `serve` prints if the node has no users', async () => {
    const data = join(await makeFolder(), 'data')
    const first = await startServer(['serve', '--port', '0', '--data', data])
    await expect
      .poll(first.said)
      .toContain(`There are no users yet. Create the first one at ${first.url}/account/setup with the code `)
    const code = /with the code (\S+)/.exec(first.said())![1]!
    const { key } = await createClient({ baseUrl: first.url }).setUp({ code, username: 'ada' })
    expect(await createClient({ baseUrl: first.url, apiKey: key }).getMe()).toMatchObject({
      username: 'ada',
      role: 'admin',
    })
    await first.stop()
    const second = await startServer(['serve', '--port', '0', '--data', data])
    await createClient({ baseUrl: second.url }).getSetup()
    await second.stop()
    expect(second.said()).not.toContain('There are no users yet')
  })

  it.each([
    ['the public URL', ['--public-url', 'https://skills.example.com/tools/'], 'https://skills.example.com/tools'],
    ['this machine if the node listens on all addresses', ['--host', '0.0.0.0'], 'http://127.0.0.1:PORT'],
    ['an IPv6 address', ['--host', '::1'], 'http://[::1]:PORT'],
  ])('is created at %s', async (_, options, place) => {
    const data = join(await makeFolder(), 'data')
    const server = await startServer(['serve', '--port', '0', '--data', data, ...options])
    const { port } = new URL(server.url)
    await expect.poll(server.said).toContain(`Create the first one at ${place.replace('PORT', port)}/account/setup `)
    const [, shown = '', code] = /at (\S+)\/account\/setup with the code (\S+)/.exec(server.said())!
    const { origin } = new URL(shown)
    const local = server.url.replace('0.0.0.0', '127.0.0.1')
    const body = JSON.stringify({ code, username: 'ada' })
    // As a browser sends it from the page at the address that was shown.
    const headers = { origin, 'content-type': 'application/json' }
    const answer = await fetch(`${local}/api/v1/setup`, { method: 'POST', headers, body })
    expect(answer.status).toBe(201)
    await server.stop()
  })

  it('can be created with the setup code in the JSON output of `serve`', async () => {
    const data = join(await makeFolder(), 'data')
    const server = await startServer(['serve', '--port', '0', '--data', data, '--json'])
    await expect.poll(server.said).toContain('\n')
    const { url, setupCode } = JSON.parse(server.said()) as { url: string; setupCode: string }
    await createClient({ baseUrl: url }).setUp({ code: setupCode, username: 'ada' })
    await server.stop()
  })
})

/** A request that a proxy hands on is not one of this machine. */
async function askMetrics(url: string, token: string): Promise<number> {
  const headers = { 'x-forwarded-for': '192.0.2.1', authorization: `Bearer ${token}` }
  return (await fetch(`${url}/metrics`, { headers })).status
}

describe('serve', () => {
  it('reads the metrics token from the environment or a file, and applies the given download limits', async () => {
    const folder = await makeFolder()
    const [data, file] = [join(folder, 'data'), join(folder, 'token')]
    await writeFile(file, 'of-the-file\n')
    const serve = ['serve', '--port', '0', '--data', data, '--rate-limits', 'files=7']
    const env = { SKILLSTEAD_METRICS_TOKEN: 'of-the-environment' }
    const first = await startServer(serve, { env })
    expect([await askMetrics(first.url, 'of-the-environment'), await askMetrics(first.url, 'other')]).toEqual([
      200, 404,
    ])
    const artifact = await fetch(`${first.url}/ada/.well-known/agent-skills/none-1.0.0.md`)
    expect(artifact.headers.get('ratelimit-policy')).toBe('"files";q=7;w=60')
    await first.stop()
    const second = await startServer([...serve, '--metrics-token-file', file], { env })
    expect([await askMetrics(second.url, 'of-the-file'), await askMetrics(second.url, 'other')]).toEqual([200, 404])
    await second.stop()
    await writeFile(file, '\n')
    const refused = await skillstead([...serve, '--metrics-token-file', file])
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('contains no metrics token')])
  })

  it('refuses incomplete or invalid settings of the second-opinion service', async () => {
    const serve = ['serve', '--port', '0', '--data', join(await makeFolder(), 'data')]
    const url = ['--second-opinion-url', 'http://127.0.0.1:9/judge']
    const wrong: [string[], string][] = [
      [['--second-opinion-budget', '5'], '--second-opinion-url is missing'],
      [['--second-opinion-clears'], '--second-opinion-url is missing'],
      [['--second-opinion-url', 'http://user:secret@127.0.0.1:9'], 'without credentials'],
      [[...url, '--second-opinion-timeout', '0'], 'is not a number of milliseconds'],
      [[...url, '--second-opinion-budget', 'many'], 'is not a number of questions'],
      [[...url, '--second-opinion-scores', '90-40'], 'is not a range of scores'],
    ]
    for (const [options, message] of wrong) {
      const { code, stderr } = await skillstead([...serve, ...options])
      expect({ code, isNamed: stderr.includes(message) }).toEqual({ code: 2, isNamed: true })
    }
  })

  it('refuses incomplete or invalid settings of the embeddings service', async () => {
    const folder = await makeFolder()
    const serve = ['serve', '--port', '0', '--data', join(folder, 'data')]
    const empty = join(folder, 'empty')
    await writeFile(empty, '')
    const url = ['--embeddings-url', 'http://127.0.0.1:9/v1']
    const refusals = [
      [url, 'Pass both --embeddings-url and --embeddings-model.'],
      [['--embeddings-url', 'http://user:secret@127.0.0.1:9', '--embeddings-model', 'm'], 'without credentials'],
      [[...url, '--embeddings-model', 'm', '--embeddings-key-file', empty], 'contains no API key'],
      [[...url, '--embeddings-model', 'm', '--embeddings-timeout', '0'], 'is not a number of milliseconds'],
    ] as const
    for (const [given, message] of refusals) {
      const refused = await skillstead([...serve, ...given])
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(message)])
    }
    const env = { SKILLSTEAD_EMBEDDINGS_URL: 'http://127.0.0.1:9/v1', SKILLSTEAD_EMBEDDINGS_TIMEOUT: '1' }
    expect(await skillstead(serve, { env })).toMatchObject({ code: 2, stderr: expect.stringContaining('Pass both') })
    const server = await startServer([...serve, ...url, '--embeddings-model', 'm'])
    expect((await fetch(`${server.url}/api/v1/skills?q=what+to+do+with+a+pdf`)).status).toBe(200)
    await server.stop()
  })

  it('warns when other users can open the database file', async () => {
    const data = join(await makeFolder(), 'data')
    await mkdir(data, { mode: 0o755 })
    const file = join(data, 'skillstead.db')
    const serve = async () => {
      const server = await startServer(['serve', '--port', '0', '--data', data])
      await expect.poll(server.said).toContain('There are no users yet')
      await server.stop()
      return server.said()
    }
    expect(await serve()).not.toContain('chmod')
    await chmod(file, 0o640)
    expect(await serve()).toContain(`Other users of this machine can open ${file}, ${file}-wal`)
    await chmod(data, 0o700)
    expect(await serve()).not.toContain('chmod')
  })

  it('warns when other users can read the secret key, or replace the files of the registry', async () => {
    const data = join(await makeFolder(), 'data')
    await mkdir(data, { mode: 0o755 })
    const serve = async () => {
      const server = await startServer(['serve', '--port', '0', '--data', data])
      await expect.poll(server.said).toContain('There are no users yet')
      await server.stop()
      return server.said()
    }
    expect(await serve()).not.toContain('chmod')
    const secret = join(data, 'secret.key')
    await chmod(secret, 0o644)
    expect(await serve()).toContain(`Other users of this machine can open ${secret}. Run: chmod 600 ${secret}`)
    await chmod(data, 0o777)
    expect(await serve()).toContain(
      `Other users of this machine can replace the files in ${data}. Run: chmod o-w ${data}`,
    )
  })
})

describe('serve on a folder that cannot be used', () => {
  it('exits at once and prints the reason', async () => {
    const folder = await makeFolder()
    await writeFile(join(folder, 'file'), '')
    await mkdir(join(folder, 'taken', 'skillstead.db'), { recursive: true })
    const isLinux = process.platform === 'linux'
    const cases: [string, string][] = [
      [join(folder, 'file'), 'there is a file of this name'],
      [join(folder, 'file', 'inner'), `Cannot create the folder ${join(folder, 'file')}: there is a file of this name`],
      [join(folder, 'taken'), 'skillstead.db is a folder, not a registry'],
      // The recursive mkdir of Node does not end there.
      ...(isLinux ? ([['/proc/skillstead/data', 'the file system does not allow folders']] as [string, string][]) : []),
      ...(isLinux ? ([['/proc', 'the folder cannot be written to']] as [string, string][]) : []),
    ]
    for (const [data, reason] of cases) {
      const { code, stdout, stderr } = await skillstead(['serve', '--port', '0', '--data', data])
      expect([data, code, stdout, stderr.trimEnd().split('\n')]).toEqual([
        data,
        1,
        '',
        [expect.stringContaining(reason)],
      ])
    }
  })
})

describe('backup', () => {
  it('copies a registry to a file that opens as a registry, even while a node serves the original registry', async () => {
    const folder = await makeFolder()
    const [data, copied] = [join(folder, 'data'), join(folder, 'copied')]
    await mkdir(copied)
    await skillsteadJson(['users', 'create', 'ada', '--data', data])
    const server = await startServer(['serve', '--port', '0', '--data', data])
    const file = join(copied, 'skillstead.db')
    const made = await skillsteadJson(['backup', file, '--data', data])
    await server.stop()
    const { size, mode } = await stat(file)
    expect(made).toEqual({ file, bytes: size, verified: true, inBucket: 0 })
    expect(mode & 0o777).toBe(0o600)
    const { users } = await skillsteadJson<{ users: object[] }>(['users', 'list', '--data', copied])
    expect(users).toMatchObject([{ username: 'ada' }])
  })

  it('leaves the original registry unchanged, even if another program version created it', async () => {
    const folder = await makeFolder()
    const data = join(folder, 'data')
    await skillsteadJson(['users', 'create', 'ada', '--data', data])
    const write = (statement: string) => {
      const database = new SqliteDatabase(join(data, 'skillstead.db'))
      const rows = database.prepare(statement)
      const found = rows.reader ? rows.all() : rows.run()
      database.close()
      return found
    }
    write("insert into migrations (name, position) values ('9999-later', 9999)")
    const made = await skillsteadJson<{ verified: boolean }>(['backup', join(folder, 'copy.db'), '--data', data])
    expect(made.verified).toBe(true)
    write('drop table migrations')
    const { code, stderr } = await skillstead(['backup', join(folder, 'other.db'), '--data', data])
    expect([code, stderr]).toEqual([1, expect.stringContaining('is not a registry')])
    expect(write("select name from sqlite_schema where name = 'migrations'")).toEqual([])
    expect(existsSync(join(folder, 'other.db'))).toBe(false)
  })

  it('reports that the backup file cannot be written, or that the folder contains no registry', async () => {
    const folder = await makeFolder()
    const data = join(folder, 'data')
    await skillsteadJson(['users', 'create', 'ada', '--data', data])
    const cases = [
      [['backup', data, '--data', data], 'is a folder'],
      [['backup', join(data, 'skillstead.db'), '--data', data], 'already exists'],
      [['backup', join(folder, 'no', 'x.db'), '--data', data], 'does not exist'],
      [['backup', join(folder, 'x.db'), '--data', join(folder, 'none')], 'There is no registry'],
      [['backup', join(folder, 'x.db'), '--database-url', 'postgres://127.0.0.1:9/x'], 'pg_dump'],
    ] as const
    for (const [args, sentence] of cases) {
      const { code, stderr } = await skillstead(args)
      expect(code, sentence).not.toBe(0)
      expect(stderr).toContain(sentence)
    }
    expect(existsSync(join(folder, 'x.db'))).toBe(false)
  })
})
