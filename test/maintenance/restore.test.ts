import { readdirSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { localApi, systemCaller, type Registry } from '@skillstead/core'
import { partsOf, requestSignIn, storeUpload } from '@skillstead/core/internal'
import { writeBackup } from '@skillstead/maintenance'
import { createMirror } from '@skillstead/mirror'
import { listenNode } from '@skillstead/server'
import SqliteDatabase from 'better-sqlite3'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { createClock, startMs } from '../support/harness.ts'
import { openRegistry, restoreRegistry } from '../support/open-registry.ts'
import { withUpstreams } from '../../packages/mirror/src/tables/mirror-tables.ts'

let folder: string
let made = 0
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'restore-'))))
afterAll(() => rm(folder, { recursive: true, force: true }))

const secretKey = Buffer.alloc(32, 1)
const newFile = () => join(folder, `${(made += 1)}`, 'skillstead.db')

/** A registry in its own folder, with a user and a skill. */
async function openWritten(options: { clock?: ReturnType<typeof createClock> } = {}) {
  const path = newFile()
  await mkdir(join(path, '..'))
  const registry = await openRegistry({ path, origin: 'main.example', works: false, secretKey, ...options })
  const { key } = await localApi(registry, systemCaller).createUser({ username: 'alice', plan: 'pro' })
  const alice = localApi(registry, await registry.getCaller('alice'))
  await alice.publishSkill({
    skillMd: skillMd('first'),
    files: [{ path: 'a.bin', content: 'AP8=', encoding: 'base64' }],
  })
  return { path, registry, alice, key }
}

async function backUp(path: string): Promise<string> {
  const file = join(folder, `backup-${(made += 1)}.db`)
  await writeBackup(path, file)
  return file
}

const openFile = (path: string) => openRegistry({ path, works: false, memorySkillsMax: 0 })

describe('a restored registry', () => {
  it('has the data of the backup and a new epoch, and only the owner of its files can read them', async () => {
    const { path, registry, alice, key } = await openWritten()
    const backup = await backUp(path)
    await alice.publishSkill({ skillMd: skillMd('later') })
    const first = await alice.getSkill({ name: 'alice/first' })
    await registry.close()
    const file = newFile()
    const clock = createClock()
    const restored = await restoreRegistry(backup, file, { clock })
    expect(restored).toEqual({
      origin: 'main.example',
      epoch: startMs / 1000,
      log: 1,
      sealed: { count: 0, isOpened: null },
    })
    expect([(await stat(file)).mode & 0o777, (await stat(join(file, '..'))).mode & 0o777]).toEqual([0o600, 0o700])
    expect(await readdir(join(file, '..')), 'one file, whole by itself').toEqual(['skillstead.db'])
    const again = await openFile(file)
    expect(partsOf(again)).toMatchObject({ origin: 'main.example', epoch: restored.epoch })
    const api = localApi(again, await again.authenticate(key))
    expect(await api.getSkill({ name: 'alice/first' })).toEqual(first)
    expect((await api.searchSkills({})).total).toBe(1)
    expect((await api.publishSkill({ skillMd: skillMd('after') })).created).toBe(true)
    const { entries } = await localApi(again, systemCaller).listAudit({ action: 'backup.restore' })
    expect(entries).toMatchObject([{ actor: 'system', data: { epoch: restored.epoch } }])
    await again.close()
    expect((await restoreRegistry(backup, newFile(), { clock })).epoch, 'by the clock, not by counting').toBe(
      restored.epoch,
    )
    clock.advance(1000)
    expect((await restoreRegistry(backup, newFile(), { clock })).epoch).toBe(restored.epoch + 1)
    expect((await restoreRegistry(file, newFile(), { clock: createClock(0) })).epoch, 'after a clock went back').toBe(
      restored.epoch + 1,
    )
  })

  it('has no sessions, and its formerly leased jobs are due again', async () => {
    const { path, registry, alice, key } = await openWritten()
    await partsOf(registry).database.writer.write(async (trx) => {
      await partsOf(registry).outbox.enqueue(trx, { id: 'held', topic: 'some', payload: { a: 1 }, dueAt: 5 })
      await partsOf(registry).outbox.enqueue(trx, { id: 'later', topic: 'some', payload: {}, dueAt: 7 })
      await trx.updateTable('outbox').set({ lease: 'x', claimable_at: 99 }).where('id', '=', 'held').execute()
      const [running, answered] = ['running', 'answered'].map((id) => ({
        id,
        body_hash: '',
        body: null,
        created_at: 0,
      }))
      await trx
        .insertInto('idempotent_answers')
        .values({ ...running!, status: 0 })
        .execute()
      await trx
        .insertInto('idempotent_answers')
        .values({ ...answered!, status: 200 })
        .execute()
      const { id: key_id, user_id } = await trx.selectFrom('api_keys').selectAll().executeTakeFirstOrThrow()
      await trx
        .insertInto('sessions')
        .values({ id: 's', user_id, key_id, created_at: 0, used_at: 9e15, expires_at: 9e15 })
        .execute()
    })
    await requestSignIn(partsOf(registry), { label: 'laptop', address: '192.0.2.1' })
    await storeUpload(partsOf(registry), Buffer.from('a file'), await registry.authenticate(key))
    const backup = await backUp(path)
    await alice.updateMe({ displayName: 'Later' })
    await registry.close()
    const file = newFile()
    await restoreRegistry(backup, file)
    const again = await openFile(file)
    const { read } = partsOf(again).database
    const rows = await read.selectFrom('outbox').select(['id', 'lease', 'claimable_at', 'due_at']).execute()
    const some = rows.filter(({ id }) => ['held', 'later'].includes(id))
    expect(some.toSorted((a, b) => a.due_at - b.due_at)).toEqual([
      { id: 'held', lease: null, claimable_at: 5, due_at: 5 },
      { id: 'later', lease: null, claimable_at: 7, due_at: 7 },
    ])
    for (const table of ['sessions', 'sign_ins', 'uploads'] as const)
      expect(await read.selectFrom(table).selectAll().execute()).toEqual([])
    expect(await read.selectFrom('idempotent_answers').select('id').execute()).toEqual([{ id: 'answered' }])
    expect(await again.authenticate(key)).toMatchObject({ username: 'alice' })
    await again.close()
  })

  it('reports whether the secret key can decrypt the stored API keys for upstreams', async () => {
    const { path, registry } = await openWritten()
    await partsOf(registry).database.writer.write(async (trx) => {
      const { id: user_id } = await trx.selectFrom('users').select('id').executeTakeFirstOrThrow()
      const frontier = Buffer.alloc(0)
      const texts = { kind: 'node', location: '', settings: '{}', keys: '[]', cursor: 'null', report: 'null' } as const
      const upstream = { name: 'up', created_at: 0, frontier, ...texts }
      await sql`insert into upstreams (name, created_at, frontier, kind, location, settings, keys, cursor, report)
        values (${sql.join(Object.values({ name: upstream.name, at: 0, frontier, ...texts }))})`.execute(trx)
      const credential = partsOf(registry).secrets.seal('sk_secret')
      await withUpstreams(trx)
        .insertInto('upstream_links')
        .values({ user_id, upstream: 'up', username: 'a', credential, created_at: 0 })
        .execute()
    })
    const backup = await backUp(path)
    await registry.close()
    const sealedBy = async (key?: Uint8Array) => (await restoreRegistry(backup, newFile(), { secretKey: key })).sealed
    expect(await sealedBy()).toEqual({ count: 1, isOpened: null })
    expect(await sealedBy(secretKey)).toEqual({ count: 1, isOpened: true })
    expect(await sealedBy(Buffer.alloc(32, 2))).toEqual({ count: 1, isOpened: false })
    expect((await readFile(backup)).includes('sk_secret')).toBe(false)
  })

  it('pauses its mirrors until an operator accepts the new epoch', async () => {
    const clock = createClock()
    const { path, registry, alice } = await openWritten({ clock })
    const backup = await backUp(path)
    await alice.publishSkill({ skillMd: skillMd('lost') })
    let node = await listenNode(registry, { port: 0, rates: 'off' })
    const { port, url } = node
    const follower = await openRegistry({ path: ':memory:', origin: 'follower.example', works: false, clock })
    const alarms: string[] = []
    const mirror = createMirror(follower, { onAlarm: (_, { code }) => void alarms.push(code) })
    onTestFinished(async () => {
      await mirror.close()
      await follower.close()
    })
    await mirror.add('main', url)
    expect(await mirror.sync('main')).toMatchObject({ applied: 2 })
    await node.close()
    await registry.close()

    const file = newFile()
    await restoreRegistry(backup, file, { clock })
    const again = await openRegistry({ path: file, works: false, clock })
    const author = localApi(again, await again.getCaller('alice'))
    // A log of the same length with other content.
    await author.publishSkill({ skillMd: skillMd('instead') })
    await author.publishSkill({ skillMd: skillMd('more') })
    node = await listenNode(again, { port, rates: 'off' })
    onTestFinished(async () => {
      await node.close()
      await again.close()
    })
    await expect(mirror.sync('main')).rejects.toMatchObject({ message: expect.stringContaining('--accept epoch') })
    expect(alarms).toEqual(['epoch'])
    const names = async () => (await localApi(follower).searchSkills({})).skills.map(({ name }) => name).toSorted()
    expect(await names(), 'what came in before goes on serving').toEqual(['first', 'lost'])
    await mirror.sync('main', { accept: 'epoch' })
    expect(await names()).toEqual(expect.arrayContaining(['first', 'instead', 'more']))
    expect(alarms).toEqual(['epoch'])
  })
})

/** The error of a refused restore; fails if it left a file. */
async function refuse(file: string): Promise<string> {
  const path = newFile()
  const reason = await restoreRegistry(file, path).then(
    () => 'It was restored.',
    (error: Error) => error.message,
  )
  expect(await readdir(join(path, '..'))).toEqual([])
  return reason
}

const run = (query: ReturnType<typeof sql>) => (registry: Registry) =>
  partsOf(registry).database.writer.write((trx) => query.execute(trx))

async function write(content: Uint8Array | string): Promise<string> {
  const file = join(folder, `bytes-${(made += 1)}.db`)
  await writeFile(file, content)
  return file
}

describe('a restore is refused, and leaves no file,', () => {
  let backup: string
  beforeAll(async () => {
    const { path, registry } = await openWritten()
    backup = await backUp(path)
    await registry.close()
  })

  /** A copy of the backup with a change. */
  async function spoil(change: (registry: Registry) => Promise<unknown>): Promise<string> {
    const file = join(folder, `spoilt-${(made += 1)}.db`)
    await copyFile(backup, file)
    const registry = await openFile(file)
    await change(registry)
    await registry.close()
    return file
  }

  it('if the target is an existing registry, or if the journal of a registry is next to the target', async () => {
    const file = newFile()
    await restoreRegistry(backup, file)
    const before = await readFile(file)
    await expect(restoreRegistry(backup, file)).rejects.toThrow(/There is already a registry in /)
    const serving = await openFile(file)
    await expect(restoreRegistry(backup, file)).rejects.toMatchObject({ code: 'conflict' })
    await serving.close()
    expect(Buffer.compare(await readFile(file), before)).toBe(0)
    for (const end of ['-wal', '-shm', '-journal']) {
      const left = newFile()
      await mkdir(join(left, '..'))
      await writeFile(left + end, '')
      await expect(restoreRegistry(backup, left)).rejects.toThrow(`There is skillstead.db${end} in`)
      expect(await readdir(join(left, '..'))).toEqual([`skillstead.db${end}`])
    }
  })

  it('if the backup is truncated, damaged, or not a registry', async () => {
    const bytes = await readFile(backup)
    expect(await refuse(await write(bytes.subarray(0, bytes.length - 4096 * 3)))).toMatch(/is damaged|malformed/)
    const broken = Buffer.from(bytes)
    broken.fill(0xa5, 4096 * 8, 4096 * 12)
    expect(await refuse(await write(broken))).toMatch(/not sound|is damaged|malformed/)
    expect(await refuse(await write('no database'.repeat(1000)))).toContain('file is not a database')
    expect(await refuse(await write(''))).toContain('is not a registry')
  })

  it('if the contents, log or rows of the backup were changed', async () => {
    expect(await refuse(await spoil(run(sql`update blobs set bytes = x'00' where encoding = 'identity'`)))).toMatch(
      /The backup is damaged: Content sha256:\w+ does not match its digest\. Nothing was restored\./,
    )
    const edited = sql`update log set entry = replace(entry, 'first', 'fresh')`
    expect(await refuse(await spoil(run(edited)))).toContain("The log's entry 1 does not match its hash.")
    expect(await refuse(await spoil(run(sql`delete from version_files where path = 'a.bin'`)))).toContain(
      'The file list of alice/first@1.0.0 does not match its digest.',
    )
    expect(await refuse(await spoil(run(sql`update heads set log_seq = 0`)))).toContain('The log')
    expect(await refuse(await spoil(run(sql`insert into migrations values ('9999-later', 9999)`)))).toContain(
      'made by a newer Skillstead (it has 9999-later)',
    )
  })

  it('if the journal of the restored copy cannot be merged into the copy', async () => {
    const file = newFile()
    const place = join(file, '..')
    const { now, ...timers } = createClock()
    let reader: SqliteDatabase.Database | undefined
    // A reader of the copy when it is closed keeps its journal from being merged, as a full disk does.
    const clock = {
      ...timers,
      now() {
        if (!reader) {
          const partial = readdirSync(place).find((name) => name.endsWith('.partial'))!
          reader = new SqliteDatabase(join(place, partial), { readonly: true })
          reader.prepare('select count(*) from meta').get()
        }
        return now()
      },
    }
    onTestFinished(() => void reader?.close())
    await expect(restoreRegistry(backup, file, { clock })).rejects.toThrow('its journal could not be merged')
    expect(await readdir(place)).toEqual([])
    await restoreRegistry(backup, file)
  })
})
