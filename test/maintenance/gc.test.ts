import { existsSync } from 'node:fs'
import { mkdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { localApi, openRegistry as openPlain, type Registry, systemCaller } from '@skillstead/core'
import { beginIdempotent, partsOf, type StorageContext } from '@skillstead/core/internal'
import { checkRegistry, collectGarbage } from '@skillstead/maintenance'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createBlob, putBlobs } from '../../packages/core/src/storage/blobs.ts'
import { codeOf, skillMd } from '../support/answers.ts'
import { makeFolder, skillstead, skillsteadJson } from '../support/cli-harness.ts'
import { createClock, describeDatabases } from '../support/harness.ts'
import { openRegistry } from '../support/open-registry.ts'

const hourMs = 60 * 60 * 1000
const pageBytes = 4096

describeDatabases('gc', (open) => {
  it('removes only unreferenced data', async () => {
    const test = await open({ works: false })
    const { registry, clock } = test
    const alice = await test.makeUser('alice', { plan: 'enterprise' })
    await alice.api.publishSkill({ skillMd: skillMd('kept', { body: 'Kept. '.repeat(200) }), visibility: 'private' })
    await alice.api.createSession({})
    await alice.api.createShare({ name: 'alice/kept', expiresInDays: 1 })
    await beginIdempotent(partsOf(registry), await registry.getCaller('alice'), 'a-key', 'a-body')
    await putUnused(registry, 1500)
    clock.advance(13 * hourMs)
    await alice.api.createSession({})
    await alice.api.createShare({ name: 'alice/kept' })
    clock.advance(11.5 * hourMs)

    const before = await count(partsOf(registry))
    const found = await collectGarbage(partsOf(registry), { dryRun: true })
    expect(await count(partsOf(registry)), 'a dry run removes nothing').toEqual(before)
    const removed = await collectGarbage(partsOf(registry))
    expect(removed).toEqual(found)
    expect(Object.fromEntries(removed.map(({ name, count: many }) => [name, many]))).toEqual({
      blobs: 1500,
      sessions: 1,
      answers: 1,
      shares: 1,
      backups: 0,
    })
    expect(removed[0]!.bytes).toBeGreaterThan(1500 * 10)
    const after = await count(partsOf(registry))
    expect(after).toEqual({ ...before, blobs: 1, sessions: 1, answers: 0, shares: 1 })
    expect((await alice.api.getSkillMd({ name: 'alice/kept' })).body).toBeDefined()
    const again = await collectGarbage(partsOf(registry))
    expect(again.every(({ count: many }) => many === 0)).toBe(true)
    expect(wrongOf(await checkRegistry(registry, { deep: true }))).toEqual([])
    const notes = await partsOf(registry)
      .database.read.selectFrom('audit')
      .select('data')
      .where('action', '=', 'garbage.collect')
      .execute()
    expect(notes.map(({ data }) => JSON.parse(data))).toEqual([
      { blobs: 1500, sessions: 1, answers: 1, shares: 1, backups: 0 },
    ])
  })

  it('never removes content that a concurrent publish refers to, in this process or another', async () => {
    const test = await open({ works: false })
    const other = await open({ at: test.location, works: false })
    const alice = await test.makeUser('alice')
    const caller = localApi(other.registry, await other.registry.getCaller('alice'))
    // Contents that exist and are unused at first: exactly those that the publishes contain.
    const bodies = Array.from({ length: 60 }, (_, i) => `Body number ${i}. `.repeat(40))
    const sources = bodies.map((body, i) => skillMd(`raced-${i}`, { body }))
    await put(test.registry, sources)
    let isDone = false
    const sweep = async () => {
      while (!isDone) await collectGarbage(partsOf(test.registry))
    }
    const sweeping = sweep()
    await Promise.all(sources.map((text, i) => (i % 2 ? caller : alice.api).publishSkill({ skillMd: text })))
    isDone = true
    await sweeping
    for (let i = 0; i < sources.length; i += 1) {
      const { body } = await test.api().getSkillMd({ name: `alice/raced-${i}` })
      expect(Buffer.from(body as Uint8Array).toString()).toBe(sources[i])
    }
    expect(wrongOf(await checkRegistry(test.registry, { deep: true }))).toEqual([])
  })
})

describe('skillstead gc', () => {
  it('reports in a dry run what it would remove, removes data, and returns free space to the disk', async () => {
    const data = await makeFolder()
    const path = join(data, 'skillstead.db')
    const registry = await openRegistry({ path, works: false })
    await localApi(registry, systemCaller).createUser({ username: 'alice' })
    await localApi(registry, await registry.getCaller('alice')).publishSkill({ skillMd: skillMd('kept') })
    await putUnused(registry, 40, 60_000)
    await registry.close()
    const backups = join(data, 'backups')
    const partial = join(backups, '.11111111-1111-1111-1111-111111111111.partial')
    const young = join(backups, '.22222222-2222-2222-2222-222222222222.partial')
    await mkdir(backups)
    // Other programs use such names too.
    const others = [join(data, '.download.partial'), join(backups, 'copy.partial.db')]
    for (const file of [partial, young, ...others]) await writeFile(file, 'half')
    for (const file of [partial, ...others]) await utimes(file, 1, 1)

    const dry = await skillstead(['gc', '--dry-run', '--vacuum', '--data', data])
    expect(dry.stdout).toMatch(
      /^would remove 40 contents without a version, 1\.\d MB\nwould remove 1 interrupted backups/,
    )
    expect(existsSync(partial)).toBe(true)
    const done = await skillstead(['gc', '--data', data])
    expect(done.stdout).toMatch(/^removed 40 contents.*\nremoved 1 interrupted backups, 4 bytes\nThe file takes/)
    expect(done.stdout).toContain('Run gc --vacuum to shrink it.')
    expect([partial, young, ...others].map((file) => existsSync(file))).toEqual([false, true, true, true])
    const before = await skillsteadJson<Result>(['gc', '--data', data])
    const after = await skillsteadJson<Result>(['gc', '--vacuum', '--data', data])
    expect(before.file.freeBytes).toBeGreaterThan(1_000_000)
    // VACUUM also repacks pages, so it can return more than the free pages; the list of tables may take a page more.
    expect(after.file.bytes).toBeLessThanOrEqual(before.file.bytes - before.file.freeBytes + pageBytes)
    expect(after.file.freeBytes).toBe(0)
    expect(await skillstead(['doctor', '--deep', '--data', data])).toMatchObject({ code: 0 })
    expect((await skillstead(['gc', '--data', data])).stdout).toMatch(/^There is no unreferenced data\.\n/)
  })
})

describe('a registry without the maintenance extension', () => {
  it('deletes unreferenced contents and expired share links once a day, and makes no backups', async () => {
    const clock = createClock()
    const registry = await openPlain({ path: join(await makeFolder(), 'skillstead.db'), clock })
    onTestFinished(() => registry.close())
    const operator = localApi(registry, systemCaller)
    await operator.createUser({ username: 'alice' })
    const alice = localApi(registry, await registry.getCaller('alice'))
    await alice.publishSkill({ skillMd: skillMd('kept'), visibility: 'private' })
    await alice.createShare({ name: 'alice/kept', expiresInDays: 1 })
    await putUnused(registry, 10)
    clock.advance(25 * hourMs)
    await expect.poll(() => count(partsOf(registry))).toMatchObject({ blobs: 1, shares: 0 })
    expect((await alice.getSkillMd({ name: 'alice/kept' })).body).toBeDefined()
    expect(await codeOf(operator.createBackup())).toBe('not_implemented')
    expect(await operator.listBackups()).toEqual({ backups: [], total: 0, folder: null, schedule: null })
  })
})

interface Result {
  readonly file: { readonly bytes: number; readonly freeBytes: number }
}

async function put(registry: Registry, texts: readonly string[]): Promise<void> {
  const blobs = await Promise.all(texts.map((text) => createBlob(Buffer.from(text))))
  await partsOf(registry).database.writer.write((trx) => putBlobs(trx, blobs))
}

/** Unreferenced, incompressible contents. */
function putUnused(registry: Registry, many: number, bytes = 20): Promise<void> {
  const noise = (i: number) => {
    let text = `${i} `
    while (text.length < bytes) text += Math.random().toString(36)
    return text
  }
  return put(
    registry,
    Array.from({ length: many }, (_, i) => noise(i)),
  )
}

async function count({ database }: StorageContext): Promise<Record<string, number>> {
  const tables = { blobs: 'blobs', sessions: 'sessions', answers: 'idempotent_answers', shares: 'shares' } as const
  const counts: Record<string, number> = {}
  for (const [name, table] of Object.entries({
    ...tables,
    versions: 'versions' as const,
    files: 'version_files' as const,
  })) {
    const rows = await database.read
      .selectFrom(table)
      .select((eb) => eb.fn.countAll<number>().as('n'))
      .execute()
    counts[name] = rows[0]!.n
  }
  return counts
}

const wrongOf = (findings: Awaited<ReturnType<typeof checkRegistry>>) => findings.filter(({ ok }) => !ok)
