import { once } from 'node:events'
import { appendFile, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createClient } from '@skillstead/client'
import { localApi } from '@skillstead/core'
import type { Provenance } from '@skillstead/protocol'
import { gitAttributes } from '@skillstead/skill-format/archives'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bytesOf, skillMd } from '../support/answers.ts'
import {
  makeFolder,
  skillstead,
  skillsteadJson,
  skillsteadProcess,
  startServer,
  type Running,
} from '../support/cli-harness.ts'
import { createNoteSigner } from '../support/note-signer.ts'
import { openRegistry } from '../support/open-registry.ts'

const tidyCsv = fileURLToPath(new URL('../../examples/skills/tidy-csv', import.meta.url))
/** Ends the process, with a code that nothing else ends with, where it would open a socket or look up a name. */
const noNetwork = `import net from 'node:net'; import dns from 'node:dns'; import dgram from 'node:dgram'
const end = () => process.exit(77)
net.Socket.prototype.connect = net.Server.prototype.listen = dgram.Socket.prototype.bind = dns.lookup = end`
const withoutNetwork = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(noNetwork)}` }

const lineOf = (stdout: string, name: string) => stdout.split('\n').find((line) => line.trim().startsWith(name))

describe('verification from the command line', () => {
  let folder: string
  let server: Running
  let data: string
  let key: string
  let alice: string
  let env: Record<string, string>
  let config: string
  beforeAll(async () => {
    folder = await makeFolder()
    data = join(folder, 'data')
    config = join(folder, 'config', 'skillstead', 'known-keys.json')
    env = { XDG_CONFIG_HOME: join(folder, 'config') }
    await skillsteadJson(['examples', '--data', data])
    alice = (await skillsteadJson<{ key: string }>(['users', 'create', 'alice', '--data', data])).key
    server = await startServer(['serve', '--port', '0', '--data', data])
    key = (await skillsteadJson<{ keys: [string] }>(['key', '--data', data])).keys[0]
    await writeFile(join(folder, 'node.key'), `# The key of the house.\n${key}\n`)
    await skillstead(['verify', 'tidy-csv', '--data', data, '--save', 'record.json'], { cwd: folder })
  })
  afterAll(() => server.stop())

  const run = (...args: string[]) => skillstead(args, { cwd: folder, env })
  const offline = (...args: string[]) => skillsteadProcess(args, { cwd: folder, env: { ...env, ...withoutNetwork } })

  const refusal = async (...args: string[]) => {
    const { code, stdout, stderr } = await run('verify', ...args)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    return stderr
  }

  describe('of a skill by its name', () => {
    it('checks the record, the log and the content with the public key from the data folder', async () => {
      const { code, stdout, stderr } = await run('verify', 'skillstead/tidy-csv', '--data', data)
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(stdout).toMatch(/^skillstead\/tidy-csv@1\.0\.0 matches its record\.\n/)
      expect(lineOf(stdout, 'content')).toBe('  content     matches the digest')
      expect(lineOf(stdout, 'log')).toMatch(/entry \d+ of 10 in the log of skillstead-\S+, since \S+Z$/)
      const { downloads } = await skillsteadJson<{ downloads: number }>(['show', 'tidy-csv', '--data', data])
      expect(downloads, 'looking after it is no download').toBe(0)
    })

    it('pins the key of a node on first use, prints a message, and requires the pinned key afterwards', async () => {
      const first = await run('verify', 'tidy-csv', '--url', server.url)
      expect(first).toMatchObject({ code: 0 })
      expect(first.stderr).toContain(`First use of ${server.url}: its key was trusted without a check and pinned in`)
      expect(first.stderr).toContain(key)
      expect(JSON.parse(await readFile(config, 'utf8'))).toMatchObject({ [server.url]: { keys: [key] } })
      const second = await run('verify', 'tidy-csv', '--url', `${server.url}/api/v1/`, '--json')
      expect(second).toMatchObject({ code: 0, stderr: '' })
      expect(JSON.parse(second.stdout)).toMatchObject({
        ok: true,
        fullName: 'skillstead/tidy-csv',
        contentChecked: true,
      })
    })

    it('refuses a node whose key differs from the pinned key, until the user pins the new key', async () => {
      const pinned = JSON.parse(await readFile(config, 'utf8')) as Record<string, { keys: string[] }>
      const other = createNoteSigner('node.example').vkey
      await writeFile(
        config,
        JSON.stringify({ ...pinned, [server.url]: { keys: [other], since: '2026-01-02T12:00:00.000Z' } }),
      )
      const { code, stdout, stderr } = await run('verify', 'tidy-csv', '--url', server.url)
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toContain(
        `The key of ${server.url} has changed: it is now ${key}; the key pinned on 2026-01-02 was ${other}.`,
      )
      expect((await run('key', '--url', server.url, '--pin')).stdout).toBe(`${key}\n`)
      expect(await run('verify', 'tidy-csv', '--url', server.url)).toMatchObject({ code: 0, stderr: '' })
    })

    it('trusts only the key given by --key, and pins no key', async () => {
      const fresh = { XDG_CONFIG_HOME: join(folder, 'fresh') }
      const good = await skillstead(['verify', 'tidy-csv', '--url', server.url, '--key', key], { env: fresh })
      expect(good).toMatchObject({ code: 0, stderr: '' })
      const stranger = createNoteSigner('node.example')
      const bad = await skillstead(['verify', 'tidy-csv', '--url', server.url, '--key', stranger.vkey], { env: fresh })
      expect(bad.code).toBe(1)
      expect(bad.stdout).toContain(`which is not among the given keys: ${stranger.id}.`)
      await expect(readFile(join(folder, 'fresh', 'skillstead', 'known-keys.json'))).rejects.toThrow('ENOENT')
    })

    it('verifies a private skill with the API key of its owner', async () => {
      const api = createClient({ baseUrl: server.url, apiKey: alice })
      await api.publishSkill({ skillMd: skillMd('secret'), visibility: 'private' })
      const args = ['verify', 'alice/secret', '--url', server.url, '--key', key]
      const { code, stdout } = await run(...args, '--api-key', alice)
      expect(code).toBe(0)
      expect(lineOf(stdout, 'log')).toBe('  log         none: the skill is not public, as the signature confirms')
      const guest = await run(...args)
      expect({ code: guest.code, stdout: guest.stdout }).toEqual({ code: 1, stdout: '' })
      expect(guest.stderr).toContain("There is no skill 'alice/secret'")
    })

    it('refuses a record that is valid but belongs to another skill or version', async () => {
      const record = await readFile(join(folder, 'record.json'))
      const swapping = createServer((_, response) => response.setHeader('content-type', 'application/json').end(record))
      await once(swapping.listen(0, '127.0.0.1'), 'listening')
      const url = `http://127.0.0.1:${(swapping.address() as AddressInfo).port}`
      const answered = 'The node returned skillstead/tidy-csv@1.0.0, but'
      const other = await run('verify', 'skillstead/other', '--key', key, '--url', url)
      expect(other).toEqual({ code: 1, stdout: '', stderr: `${answered} skillstead/other was requested.\n` })
      const short = await run('verify', 'csv', '--key', key, '--url', url)
      expect(short.stderr).toBe(`${answered} csv was requested.\n`)
      const older = await run('verify', 'tidy-csv', '--version', '0.9.0', '--key', key, '--url', url)
      expect(older.stderr).toBe(`${answered} tidy-csv@0.9.0 was requested.\n`)
      swapping.close()
    })
  })

  describe('of a record in a file', () => {
    it('needs no network', async () => {
      const args = ['verify', 'record.json', '--key', 'node.key', '--content', tidyCsv]
      const { code, stdout, stderr } = await offline(...args)
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(lineOf(stdout, 'content')).toBe('  content     matches the digest')
      expect((await offline('verify', 'tidy-csv', '--url', server.url)).code, 'the guard itself').toBe(77)
    })

    it('accepts the content of the skill as a folder, a zip or a SKILL.md', async () => {
      const registry = await openRegistry({ path: join(data, 'skillstead.db'), works: false })
      const archive = await bytesOf(await localApi(registry).getArchive({ name: 'tidy-csv' }))
      await registry.close()
      await writeFile(join(folder, 'tidy.zip'), archive)
      await writeFile(join(folder, 'cut.zip'), archive.subarray(0, archive.length - 30))
      await cp(tidyCsv, join(folder, 'copy'), { recursive: true })
      const contentLine = async (path: string) =>
        lineOf((await run('verify', 'record.json', '--key', key, '--content', path)).stdout, 'content')
      expect(await contentLine('tidy.zip')).toBe('  content     matches the digest')
      expect(await contentLine('copy')).toBe('  content     matches the digest')
      await mkdir(join(folder, 'copy', '.git'))
      expect(await contentLine('copy')).toBe('  content     matches the digest')
      const attributes = join(folder, 'copy', '.gitattributes')
      await writeFile(attributes, gitAttributes)
      expect(await contentLine('copy')).toBe('  content     matches the digest')
      await appendFile(attributes, '*.py filter=run\n')
      expect(await contentLine('copy')).toMatch(/\.gitattributes/)
      await rm(attributes)
      const document = join(folder, 'copy', 'SKILL.md')
      const text = await readFile(document, 'utf8')
      await writeFile(document, text.replaceAll('\n', '\r\n'))
      expect(await contentLine('copy')).toMatch(
        /: SKILL\.md has CRLF line ends in place of LF, as git with core\.autocrlf/,
      )
      await writeFile(document, text)
      await appendFile(document, 'One more line.\n')
      expect(await contentLine('copy')).toMatch(/: SKILL\.md was altered\.$/)
      const alone = await contentLine(join(folder, 'copy', 'SKILL.md'))
      expect(alone).toContain('SKILL.md was altered')
      const cut = await run('verify', 'record.json', '--key', key, '--content', 'cut.zip')
      expect({ code: cut.code, stdout: cut.stdout }).toEqual({ code: 1, stdout: '' })
      expect(cut.stderr).toMatch(/^[A-Z][^\n]+\.\n$/)
    })

    it('prints each mismatch on one line, whatever untrusted text the record contains', async () => {
      const record = JSON.parse(await readFile(join(folder, 'record.json'), 'utf8')) as Provenance
      const changed = { ...record, version: '9.9.9', publisher: { ...record.publisher, id: record.skill.id } }
      await writeFile(join(folder, 'changed.json'), JSON.stringify(changed))
      const { code, stdout } = await run('verify', 'changed.json', '--key', key)
      expect(code).toBe(1)
      expect(stdout.split('\n').map((line) => line.trim().split(' ')[0])).toEqual([
        'changed.json',
        'signature',
        'entry',
        'entry',
        '',
      ])
      const json = await run('verify', 'changed.json', '--key', key, '--json')
      expect(json).toMatchObject({ code: 1, stderr: '' })
      expect(JSON.parse(json.stdout)).toMatchObject({
        ok: false,
        problems: [{ part: 'signature' }, { part: 'entry' }, { part: 'entry' }],
      })
      const checkpoint = record.log!.checkpoint.replace(/^\S+/, 'evil\u001b[2J')
      await writeFile(join(folder, 'hostile.json'), JSON.stringify({ ...record, log: { ...record.log, checkpoint } }))
      expect((await run('verify', 'hostile.json', '--key', key)).stdout).not.toContain('\u001b')
    })

    it('is refused if it has a duplicate field, because programs may disagree on which value is valid', async () => {
      const record = await readFile(join(folder, 'record.json'), 'utf8')
      await writeFile(join(folder, 'twice.json'), record.replace('{', '{"version":"6.6.6",'))
      const { code, stdout, stderr } = await run('verify', 'twice.json', '--key', key)
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toBe('twice.json has a duplicate field, which different readers could read differently.\n')
      const ascii = record.replaceAll('s', '\\u0073').replaceAll('\n', '\r\n')
      await writeFile(join(folder, 'ascii.json'), ascii)
      expect(await run('verify', 'ascii.json', '--key', key)).toMatchObject({ code: 0 })
    })

    it('is refused if the file contains no record', async () => {
      await writeFile(join(folder, 'empty.json'), '{}')
      await writeFile(join(folder, 'broken.json'), '{')
      expect((await run('verify', 'empty.json', '--key', key)).stdout).toContain(
        'This is not a provenance record: skill',
      )
      expect((await run('verify', 'broken.json', '--key', key)).stderr).toBe('broken.json is not JSON.\n')
      expect((await run('verify', './missing.json', '--key', key)).stderr).toBe('./missing.json does not exist.\n')
    })
  })

  it('refuses files that are larger than any record or version may be', async () => {
    const sizes = { 'huge.json': 2 ** 21, 'huge.zip': 2 ** 25, 'SKILL.md': 2 ** 24 } as const
    const place = join(folder, 'huge')
    await mkdir(place)
    for (const [name, size] of Object.entries(sizes)) await writeFile(join(place, name), Buffer.alloc(size, 32))
    const content = (path: string) => refusal('record.json', '--key', key, '--content', path)
    expect(await refusal('./huge/huge.json', '--key', key)).toBe(
      './huge/huge.json is not a record: it has 2097152 bytes, and records have at most 1048576.\n',
    )
    expect(await content('huge/huge.zip')).toContain(
      'huge/huge.zip is too large: 33554432 bytes, at most 25165824 are allowed.',
    )
    expect(await content('huge/SKILL.md')).toContain(
      'huge/SKILL.md is too large: 16777216 bytes, at most 10485760 are allowed.',
    )
    expect(await content('huge')).toMatch(/^huge\/\S+ is too large: \d+ bytes, at most 10485760 are allowed\.\n$/)
  })

  it('reports that a folder was given instead of the file of a record', async () => {
    expect((await run('verify', './data', '--key', key)).stderr).toBe(
      './data is a folder, not a record. Pass the file of a record.\n',
    )
    const { code, stderr } = await run('verify', 'record.json', '--key', 'data')
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: "'data' is neither a verifier key nor a file with such keys. Pass what `skillstead key` prints.\n",
    })
  })

  it('accepts the old and the new key of a node in the overlap period after `key rotate`', async () => {
    const rotated = await skillsteadJson<{ key: string; before: string }>(['key', 'rotate', '--data', data])
    expect(rotated).toMatchObject({ before: key, overlapDays: 30 })
    expect((await run('key', '--url', server.url)).stdout).toBe(`${rotated.key}\n${key}\n`)
    const { code, stderr } = await run('verify', 'tidy-csv', '--url', server.url)
    expect(code).toBe(0)
    expect(stderr).toBe(
      `${server.url} will change to the key ${rotated.key}. Trust it with: skillstead key --url ${server.url} --pin\n`,
    )
    await run('key', '--url', server.url, '--pin')
    const { stdout } = await run('verify', 'tidy-csv', '--url', server.url)
    expect(lineOf(stdout, 'signature')).toMatch(/ and /)
    const said = await run('key', 'rotate', '--overlap', '0', '--data', data)
    expect(said.stdout).toContain(`The previous key, ${rotated.key}, no longer signs.`)
    expect(await run('verify', 'record.json', '--key', key), 'an old record by its old key').toMatchObject({ code: 0 })
  })

  it.each([
    [['verify', '--save', 'record.json'], '--save needs a FILE or NAME to verify'],
    [['verify', 'record.json'], 'The public key of the node is missing. Pass it with --key.'],
    [['verify', 'record.json', '--key', 'ssk_abc'], 'Pass an API key with --api-key'],
    [
      ['verify', 'record.json', '--key', 'nothing'],
      "'nothing' is neither a verifier key nor a file with such keys. Pass what `skillstead key` prints.",
    ],
    [['verify', 'record.json', '--key', 'a+b+c'], "'a+b+c' is not a verifier key of the form NAME+HASH+BASE64."],
    [
      ['verify', 'record.json', '--key', `${'x'.repeat(300)}+b+c`],
      'is not a verifier key of the form NAME+HASH+BASE64.',
    ],
    [['verify', 'record.json', '--key', 'record.json'], 'is not a verifier key'],
    [['verify', 'record.json', '--url', 'http://localhost'], '--url is only for the NAME of a skill, not for a file.'],
    [['verify', 'tea', '--url', 'nowhere'], "'nowhere' is not the URL of a node. Use the form https://HOST."],
    [['verify', 'tea'], 'The registry is missing'],
    [['key', '--pin', '--data', 'data'], '--pin needs the URL of the node. Pass --url URL.'],
    [['key', 'rotate', '--overlap', '-1', '--data', 'data'], '--overlap needs a value, DAYS.'],
    [
      ['key', 'rotate', '--overlap', '1.5', '--data', 'data'],
      "'1.5' is not valid. Use a number of days from 0 to 3650.",
    ],
  ])('%j is a usage error in one sentence', async (args, sentence) => {
    const { code, stdout, stderr } = await run(...args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(sentence)
  })
})
