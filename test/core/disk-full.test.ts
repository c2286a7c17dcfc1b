import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs'
import { readFile, readdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { localApi, type Registry, systemCaller } from '@skillstead/core'
import { partsOf, toRegistryError } from '@skillstead/core/internal'
import { checkRegistry } from '@skillstead/maintenance'
import type { RegistryError } from '@skillstead/protocol'
import { listenNode, type ListeningNode } from '@skillstead/server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundleOf, openPublisher } from '../support/bundle-acts.ts'
import { makeFolder, skillstead } from '../support/cli-harness.ts'
import { describeMatrix, describeDatabases } from '../support/harness.ts'
import { exportRegistry, openRegistry } from '../support/open-registry.ts'

const diskMegabytes = 24
const root = mkdtempSync(join(tmpdir(), 'skillstead-disk-'))
const canMount = tryMount()
// If all tests are skipped, this hook is skipped too.
if (canMount) execFileSync('umount', [root])
rmSync(root, { recursive: true })
beforeAll(() => {
  mkdirSync(root)
  if (canMount && !tryMount())
    throw new Error('It could be mounted before, and this would fill a disk that is no test.')
})
afterAll(() => {
  if (canMount) execFileSync('umount', ['--lazy', root])
  rmSync(root, { recursive: true, force: true })
})

/** Mounts a small disk; only root may do so. */
function tryMount(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${diskMegabytes}m`, 'skillstead-test', root], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

const filler = join(root, 'filler')

/** Fills the disk to the last byte. */
function fillDisk(): void {
  const file = openSync(filler, 'w')
  try {
    for (let bytes = 1024 * 1024; bytes >= 1;) {
      try {
        writeSync(file, Buffer.alloc(bytes))
      } catch {
        bytes = Math.floor(bytes / 16)
      }
    }
  } finally {
    closeSync(file)
  }
}

const makeRoom = () => rmSync(filler, { force: true })

const skillMd = (name: string) => {
  // Incompressible content, so that it needs space.
  const noise = Array.from({ length: 3000 }, () => Math.random().toString(36)).join(' ')
  return `---\nname: ${name}\ndescription: Does ${name}.\n---\n# ${name}\n\n${noise}\n`
}

describe.skipIf(!canMount)(`a full disk${canMount ? '' : ': SKIPPED, for only root may mount a small one'}`, () => {
  let registry: Registry
  let node: ListeningNode
  let key: string
  const errors: unknown[] = []

  beforeAll(async () => {
    registry = await openRegistry({ path: join(root, 'skillstead.db'), onError: (error) => void errors.push(error) })
    const made = await localApi(registry, systemCaller).createUser({
      username: 'alice',
      plan: 'enterprise',
      role: 'admin',
    })
    key = made.key
    node = await listenNode(registry, { port: 0, rates: 'off', trustedProxies: ['127.0.0.1'] })
    for (const name of ['before', 'other']) await publish(name)
  })
  afterAll(async () => {
    makeRoom()
    await node?.close()
    await registry?.close()
  })

  const as = (method: string, path: string, body?: unknown) =>
    fetch(`${node.url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  const publish = (name: string) => as('PUT', '/skills', { skillMd: skillMd(name) })

  const writes: [what: string, act: (round: string) => Promise<Response>][] = [
    ['a publish', (round) => publish(`during-${round}`)],
    ['a star', () => as('PUT', '/skills/other/star')],
    ['a fork', (round) => as('POST', '/skills/other/fork', { newName: `fork-${round}` })],
    ['an install that is tracked', () => as('POST', '/track', { skillName: 'alice/other' })],
    ['a session', () => as('POST', '/session', {})],
    ['a webhook', () => as('POST', '/webhooks', { url: 'https://hooks.example.com/', events: ['skill.starred'] })],
    ['an agent', (round) => as('POST', '/agents', { agentKey: `a:${round}`, displayName: 'A', platformId: 'a' })],
    ['a backup', () => as('POST', '/operator/backups', {})],
  ]
  const reads = ['/skills/before', '/skills/before/skill.md', '/skills?q=before', '/feed', '/checkpoint']

  it('causes 503 with Retry-After for writes while reads work, until there is space again', async () => {
    fillDisk()
    await expect.poll(async () => (await publish('first')).status).toBe(503)
    for (const [what, act] of writes) {
      // SQLite still has space for some small writes, in existing pages and the journal.
      const answer = await act('full')
      const text = await answer.text()
      if (answer.status < 300) continue
      expect(answer.status, `${what}: ${text}`).toBe(503)
      expect(Number(answer.headers.get('retry-after')), what).toBeGreaterThan(0)
      expect(JSON.parse(text), what).toMatchObject({ code: 'overloaded', detail: expect.stringContaining('disk') })
      expect(text, what).not.toMatch(/sqlite|skillstead\.db|\bat |insert|database or/i)
    }
    for (const path of reads) expect((await fetch(`${node.url}/api/v1${path}`)).status, path).toBe(200)
    expect((await as('GET', '/skills/during-full')).status).toBe(404)
    const counted = partsOf(registry).counters.flush()
    await counted
    makeRoom()
    for (const [what, act] of writes) {
      const { status } = await act('room')
      // A disk this small never has the space that a backup must leave free.
      expect(what === 'a backup' ? status - 303 : status, what).toBeLessThan(300)
    }
    // A download counts once per address, skill and day.
    const headers = { 'x-forwarded-for': '192.0.2.1' }
    for (const path of reads) expect((await fetch(`${node.url}/api/v1${path}`, { headers })).status, path).toBe(200)
    await partsOf(registry).counters.flush()
    const { downloads } = (await (await as('GET', '/skills/before')).json()) as { downloads: number }
    expect(downloads, 'what was read while the disk was full is counted once there is room').toBe(2)
    expect(await findWrong(registry)).toEqual([])
  })

  it('is reported in one sentence by a node that cannot start, and the node changes no data', async () => {
    const data = join(root, 'second')
    const made = await skillstead(['users', 'create', 'bob', '--data', data])
    expect(made.code).toBe(0)
    const before = await readFile(join(data, 'skillstead.db'))
    fillDisk()
    const started = await skillstead(['serve', '--data', data, '--port', '0'])
    const fresh = await skillstead(['users', 'create', 'bob', '--data', join(root, 'third')])
    makeRoom()
    for (const { code, stderr } of [started, fresh]) {
      expect(stderr).toContain('The disk is full. Free some space')
      expect(stderr).not.toMatch(/\n\s+at |SQLITE/)
      expect(code).toBe(1)
    }
    expect((await readFile(join(data, 'skillstead.db'))).equals(before)).toBe(true)
    expect(await skillstead(['doctor', '--deep', '--data', data])).toMatchObject({
      stderr: expect.stringMatching(/^[^]*disk/),
    })
  })

  it('is reported by the import of an export, which leaves no data', async () => {
    const data = join(root, 'taking')
    const file = join(await makeFolder(), 'all.ndjson')
    await exportRegistry({ path: join(root, 'skillstead.db') }, file)
    mkdirSync(data)
    fillDisk()
    // Space for the schema, but not for the data.
    truncateSync(filler, statSync(filler).size - 1024 * 1024)
    const failed = await skillstead(['import', file, '--data', data])
    makeRoom()
    expect(failed.stderr).toContain('The disk is full')
    expect(failed).toMatchObject({ code: 1, stdout: '' })
    expect(await readdir(data)).toEqual([])
    expect(await skillstead(['import', file, '--data', data])).toMatchObject({ code: 0 })
  })

  it('is distinguished from a read-only disk in the error message', async () => {
    const data = join(root, 'readonly')
    expect((await skillstead(['users', 'create', 'bob', '--data', data])).code).toBe(0)
    execFileSync('mount', ['--bind', data, data])
    try {
      execFileSync('mount', ['-o', 'remount,ro,bind', data])
      const { code, stderr } = await skillstead(['users', 'create', 'carol', '--data', data])
      expect(stderr).toMatch(/cannot be (written|opened)/)
      expect(code).toBe(1)
    } finally {
      execFileSync('umount', [data])
    }
  })

  describeDatabases('during the import of a bundle', (open, dialect) => {
    it.runIf(dialect === 'SQLite')(
      'leaves no part of the bundle imported, and a repeated import succeeds once there is space',
      async () => {
        const publisher = await openPublisher(open)
        for (let i = 0; i < 6; i += 1) await publisher.alice.api.publishSkill({ skillMd: skillMd(`bundled-${i}`) })
        const bundle = await bundleOf(publisher)
        const data = join(root, 'importing')
        expect((await skillstead(['users', 'create', 'bob', '--data', data])).code).toBe(0)
        fillDisk()
        const args = ['bundle', 'import', bundle, '--data', data, '--key', publisher.key]
        const failed = await skillstead(args)
        makeRoom()
        expect(failed.stderr).toContain('The disk is full')
        expect(failed.code).toBe(1)
        expect(await skillstead(args)).toMatchObject({ code: 0 })
        const imported = await openRegistry({ path: join(data, 'skillstead.db'), works: false })
        expect(await findWrong(imported)).toEqual([])
        expect((await localApi(imported).searchSkills({ q: 'bundled' })).total).toBe(6)
        await imported.close()
      },
    )
  })
})

describeMatrix('a database without space', (open, { dialect }) => {
  it.runIf(dialect === 'PostgreSQL')('refuses writes with 503 and the time after which clients may retry', async () => {
    const test = await open({ works: false })
    const alice = await test.makeUser('alice')
    await alice.api.publishSkill({ skillMd: skillMd('stored') })
    const run = (text: string) => partsOf(test.registry).database.writer.write((trx) => sql.raw(text).execute(trx))
    await run(`create function no_room() returns trigger language plpgsql as
      $$ begin raise exception 'could not extend file "base/1/2": No space left' using errcode = '53100'; end $$`)
    await run('create trigger no_room before insert on stars for each row execute function no_room()')
    const refused = await alice.api.starSkill({ name: 'stored' }).catch((error: unknown) => error)
    expect(refused).toMatchObject({ code: 'overloaded', status: 503, message: expect.stringContaining('disk') })
    expect(String(refused)).not.toMatch(/base\/1|extend/)
    expect(refused).toMatchObject({ retryAfterSeconds: 30 })
    expect((await alice.api.getSkill({ name: 'stored' })).stars).toBe(0)
    await run('drop trigger no_room on stars')
    expect((await alice.api.starSkill({ name: 'stored' })).stars).toBe(1)
    expect(await findWrong(test.registry)).toEqual([])
  })
})

describe('a failing database', () => {
  it.each([
    ['SQLITE_CORRUPT_INDEX', /damaged/, 60],
    ['SQLITE_NOTADB', /damaged/, 60],
    ['XX001', /damaged/, 60],
    ['SQLITE_FULL', /disk .* full/, 30],
    ['SQLITE_IOERR_SHMSIZE', /disk .* full/, 30],
    ['SQLITE_IOERR_READ', /Try again shortly/, 2],
    ['SQLITE_READONLY_DBMOVED', /cannot be written/, 30],
    ['EACCES', /cannot be written/, 30],
    ['42501', /grant that user the rights/, 30],
    ['53300', /Try again shortly/, 2],
    ['40P01', /Try again shortly/, 2],
    ['57014', /Try again shortly/, 2],
    ['25P04', /Try again shortly/, 2],
    ['55P03', /Try again shortly/, 2],
    ['58030', /Try again shortly/, 2],
    ['EHOSTUNREACH', /Try again shortly/, 2],
    ['ENETUNREACH', /Try again shortly/, 2],
  ])('is reported to clients without details: %s', (code, told, retryAfterSeconds) => {
    const cause = Object.assign(new Error('in /srv/skillstead.db, table versions'), { code })
    const error = toRegistryError(cause) as RegistryError
    expect(error).toMatchObject({ code: 'overloaded', status: 503, retryAfterSeconds })
    expect(error.message).toMatch(told)
    expect(error.message).not.toMatch(/srv|versions/)
  })

  it('is reported to the operator in one sentence', async () => {
    const data = await makeFolder()
    const path = join(data, 'skillstead.db')
    const registry = await openRegistry({ path, works: false })
    const system = localApi(registry, systemCaller)
    await system.createUser({ username: 'alice' })
    await localApi(registry, await registry.getCaller('alice')).publishSkill({ skillMd: skillMd('lost') })
    await registry.close()
    const bytes = await readFile(path)
    // Every page but the first ones, which contain the schema.
    bytes.fill(0x5a, 4096 * 40)
    await writeFile(path, bytes)
    const told = await skillstead(['doctor', '--deep', '--data', data])
    expect(told.code).toBe(1)
    expect(told.stderr).toMatch(/damaged|malformed/)
    expect(told.stderr).not.toMatch(/\n\s+at /)
    await writeFile(path, 'no database at all'.repeat(1000))
    const foreign = await skillstead(['serve', '--data', data, '--port', '0'])
    expect(foreign).toMatchObject({ code: 1, stderr: expect.stringContaining('is not a registry, or is damaged') })
  })
})

/** The findings of doctor --deep, without the disk check: these disks are smaller than it requires. */
async function findWrong(registry: Registry) {
  const findings = await checkRegistry(registry, { deep: true })
  return findings.filter(({ name, ok }) => !ok && name !== 'disk')
}
