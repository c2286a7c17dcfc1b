import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { verifyProvenance } from '@skillstead/client/verify'
import { localApi } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import { checkRegistry, type ExportSummary } from '@skillstead/maintenance'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { toTableRules, unlistedTables } from '../../packages/maintenance/src/transfer/portable-tables.ts'
import { skillMd } from '../support/answers.ts'
import { makeRichFile, readExportLines, reopen } from '../support/export-acts.ts'
import { describeDatabases } from '../support/harness.ts'
import { makeEmptyPlace, makePlace } from '../support/places.ts'
import { readEntries, readKeys, readRoot } from '../support/signed-log.ts'
import { withUpstreams } from '../../packages/mirror/src/tables/mirror-tables.ts'
import { exportRegistry, importRegistry, extensions } from '../support/open-registry.ts'

let folder: string
let rich: { path: string; file: string; key: string; summary: ExportSummary }
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'export-'))
  const path = join(folder, 'rich', 'skillstead.db')
  await mkdir(join(folder, 'rich'))
  const { keys } = await makeRichFile(path)
  const file = join(folder, 'rich.ndjson')
  rich = { path, file, key: keys.get('bob')!, summary: await exportRegistry({ path }, file) }
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const newPath = (name: string) => join(folder, name, 'skillstead.db')
const handovers = ['sign_ins', 'sign_in_guesses', 'uploads']
const hasPostgres = () => inject('postgresUrl') !== null

describeDatabases('an export', (open, dialect) => {
  it('has every table of the schema, each after the tables that it refers to', async () => {
    const { registry } = await open()
    const names =
      dialect === 'SQLite'
        ? sql<{ name: string }>`select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'
            and name not like 'skill_text_%'`
        : sql<{ name: string }>`select tablename as name from pg_tables where schemaname = current_schema()`
    const { rows } = await names.execute(partsOf(registry).database.read)
    const rules = toTableRules(extensions)
    const known = new Set<string>([
      ...rules.keys(),
      ...unlistedTables,
      'sessions',
      'used_states',
      'embeddings',
      ...handovers,
    ])
    expect(
      rows.map(({ name }) => name).filter((name) => !known.has(name)),
      'name them in portable-tables.ts, or in the rules of the extension',
    ).toEqual([])
    if (dialect === 'PostgreSQL') return
    for (const [i, [table, rule]] of [...rules].entries()) {
      const { rows: parents } = await sql<{ table: string }>`
        select "table" from pragma_foreign_key_list(${table})`.execute(partsOf(registry).database.read)
      expect([...rules.keys()].slice(0, i)).toEqual(expect.arrayContaining(parents.map((parent) => parent.table)))
      const { rows: keys } = await sql<{ name: string }>`
        select name from pragma_table_info(${table}) where pk > 0`.execute(partsOf(registry).database.read)
      expect([...rule.key].toSorted(), table).toEqual(keys.map(({ name }) => name).toSorted())
    }
  })

  it('is imported as a registry that serves the exported skills, proves their origin, and accepts new skills', async () => {
    const place = await makeEmptyPlace(dialect)
    const before = await reopen({ path: rich.path })
    const old = localApi(before)
    const proof = await old.getProvenance({ name: 'alice/tool', version: '1.0.0' })
    const [keys, feed] = [await readKeys(old), await old.getFeed({ since: 0 })]
    const found = await old.searchSkills({ q: 'tapir' })
    const vkeys = await before.verifierKeys()
    await before.close()

    await importRegistry(rich.file, place.location, {
      clock: { now: () => 1_900_000_000_000, setTimer: () => () => {} },
    })
    const registry = await reopen(place.location)
    const api = localApi(registry)
    expect(partsOf(registry)).toMatchObject({ origin: 'rich.example', epoch: 1_900_000_000 })
    expect(await registry.verifierKeys()).toEqual(vkeys)
    expect(await api.searchSkills({ q: 'tapir' }), "by the database's own index").toEqual(found)
    expect((await api.getFeed({ since: 0 })).entries).toEqual(feed.entries)
    expect(verifyProvenance(proof, { keys }), 'a proof from before').toMatchObject({ ok: true })
    expect(verifyProvenance(await api.getProvenance({ name: 'alice/tool' }), { keys })).toMatchObject({ ok: true })
    expect(await registry.authenticate(rich.key)).toMatchObject({ username: 'bob' })
    expect(await partsOf(registry).database.read.selectFrom('sessions').selectAll().execute()).toEqual([])

    const bob = localApi(registry, await registry.getCaller('bob'))
    const { skill } = await bob.publishSkill({ skillMd: skillMd('moved-on') })
    const size = feed.head + 1
    expect((await api.getFeed({ since: feed.head })).entries).toMatchObject([
      { seq: size, subject: `${skill.fullName}@1.0.0` },
    ])
    expect(await readRoot(api, size)).toBeTypeOf('string')
    expect(await readEntries(api, size)).toHaveLength(size)
    const wrong = (await checkRegistry(registry)).filter(({ ok, name }) => !ok && name !== 'reputation')
    expect(wrong).toEqual([])
    await registry.close()
    await place.remove()
  })

  it('is a consistent snapshot, also if it takes long and a node writes at the same time', async () => {
    const test = await open()
    for (let i = 0; i < 30; i += 1) await test.admin.api.publishSkill({ skillMd: skillMd(`before-${i}`) })
    const slow = new PassThrough({ highWaterMark: 1024 })
    const file = join(folder, `moment-${dialect}.ndjson`)
    const exporting = exportRegistry(test.location, slow)
    const chunks: Buffer[] = []
    let published = 0
    for await (const chunk of slow) {
      chunks.push(chunk as Buffer)
      await test.admin.api.publishSkill({ skillMd: skillMd(`meanwhile-${(published += 1)}`) })
    }
    const { tables } = await exporting
    expect([tables['skills']!.rows, tables['versions']!.rows, tables['log']!.rows]).toEqual([30, 30, 30])
    expect(published).toBeGreaterThan(0)
    await writeFile(file, Buffer.concat(chunks))
    await importRegistry(file, { path: newPath(`moment-${dialect}`) })
  })

  it('can only be imported into an empty database', async () => {
    const test = await open()
    await expect(importRegistry(rich.file, test.location)).rejects.toThrow(/There is already a registry in /)
    expect((await test.api().searchSkills({})).total).toBe(0)
    expect(await test.registry.authenticate(test.admin.key)).toMatchObject({ username: 'root' })
  })
})

describe('an exported and imported registry', () => {
  it.runIf(hasPostgres())(
    'has the same data after a move from SQLite to PostgreSQL and back, with gzip and with Zstandard',
    async () => {
      const [first, place] = [rich.summary, await makePlace('PostgreSQL')]
      const empty = Object.entries(first.tables).filter(([, { rows }]) => rows === 0)
      expect(empty, 'a test without rows shows nothing').toEqual([])
      const moved = await importRegistry(rich.file, place.location)
      expect(moved).toMatchObject({ origin: 'rich.example', tables: first.tables, digest: first.digest })
      const gz = join(folder, 'second.ndjson.gz')
      const second = await exportRegistry(place.location, gz)
      expect([second.tables, second.digest]).toEqual([first.tables, first.digest])
      const back = { path: newPath('back') }
      expect((await importRegistry(gz, back)).digest).toBe(first.digest)
      const zst = join(folder, 'third.ndjson.zst')
      expect((await exportRegistry(back, zst)).digest).toBe(first.digest)
      expect((await importRegistry(zst, { path: newPath('again') })).digest).toBe(first.digest)
      await place.remove()
    },
  )

  it('is written to files that only their owner can read, and that get their final names only when complete', async () => {
    const modes = await Promise.all(
      [rich.file, newPath('modes')].map(async (file, i) => {
        if (i === 1) await importRegistry(rich.file, { path: file })
        return (await stat(file)).mode & 0o777
      }),
    )
    expect([...modes, (await stat(join(folder, 'modes'))).mode & 0o777]).toEqual([0o600, 0o600, 0o700])
    const halfway = new AbortController()
    const stopped = exportRegistry({ path: rich.path }, join(folder, 'stopped.ndjson'), {
      signal: halfway.signal,
      onProgress: () => halfway.abort(),
    })
    await expect(stopped).rejects.toMatchObject({ code: 'shutting_down' })
    const taking = importRegistry(rich.file, { path: newPath('stopped') }, { signal: AbortSignal.abort() })
    await expect(taking).rejects.toThrow('incomplete result was discarded')
    expect(await readdir(join(folder, 'stopped'))).toEqual([])
    await rm(join(folder, 'stopped'), { recursive: true })
    await expect(exportRegistry({ path: rich.path }, rich.file)).rejects.toThrow('A file with this name already exists')
    expect((await readdir(folder)).filter((name) => /stopped|partial/.test(name))).toEqual([])
  })

  it('contains no leases and no sessions', async () => {
    const path = newPath('held')
    const { registry } = await openWithHolds(path)
    const file = join(folder, 'held.ndjson')
    await exportRegistry({ path }, file)
    await registry.close()
    const lines = await readExportLines(file)
    expect(JSON.stringify(lines)).not.toMatch(/a-lease|"running"|sessions|epoch","1"/)
    const [header] = lines as [{ tables: Record<string, object> }]
    const columns = Object.keys(header.tables['outbox']!)
    const row = lines.find((line) => Array.isArray(line) && line[1] === 'job') as unknown[]
    const { due_at, claimable_at, lease } = Object.fromEntries(columns.map((name, i) => [name, row[i + 1]]))
    expect({ claimable_at, lease }).toEqual({ claimable_at: due_at, lease: null })
  })
})

async function openWithHolds(path: string) {
  await importRegistry(rich.file, { path })
  const registry = await reopen({ path })
  const { writer } = partsOf(registry).database
  await writer.write(async (trx) => {
    await partsOf(registry).outbox.enqueue(trx, { id: 'job', topic: 'some', payload: {}, dueAt: 5 })
    await trx.updateTable('outbox').set({ lease: 'a-lease', claimable_at: 99 }).where('id', '=', 'job').execute()
    await withUpstreams(trx).updateTable('upstreams').set({ lease: 'a-lease', lease_until: 99 }).execute()
    const running = { id: 'running', body_hash: '', status: 0, body: null, created_at: 0 }
    await trx.insertInto('idempotent_answers').values(running).execute()
  })
  return { registry }
}
