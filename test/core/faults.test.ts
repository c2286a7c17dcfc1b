import { once } from 'node:events'
import type { Worker } from 'node:worker_threads'
import { sql } from 'kysely'
import { afterEach, describe, expect, it } from 'vitest'
import { join } from 'node:path'
import { localApi, systemCaller, type Registry } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import { makeFolder } from '../support/cli-harness.ts'
import { placeThreads } from '../../packages/scanner/src/threads/threads.ts'
import { openRegistry } from '../support/open-registry.ts'

const skillMd = (name: string, body = 'Do it.') =>
  `---\nname: ${name}\ndescription: Does ${name}.\n---\n# ${name}\n\n${body}\n`

let registry: Registry
const errors: unknown[] = []

async function open() {
  errors.length = 0
  registry = await openRegistry({
    path: join(await makeFolder(), 'skills.db'),
    onError: (error) => void errors.push(error),
  })
  await partsOf(registry).search.warmed
  await localApi(registry, systemCaller).createUser({ username: 'alice' })
  return localApi(registry, await registry.getCaller('alice'))
}

function limitPages(max: number) {
  return partsOf(registry).database.writer.write((trx) => sql`pragma max_page_count = ${sql.lit(max)}`.execute(trx))
}

afterEach(async () => {
  placeThreads('default')
  await registry.close()
})

describe('failures and limits of a registry', () => {
  it('a full disk causes writes to fail with `overloaded` and to store nothing, while reads continue', async () => {
    const alice = await open()
    await alice.publishSkill({ skillMd: skillMd('before') })
    await limitPages(1)
    // Random text, so that compressing does not make it fit.
    const noise = Array.from({ length: 20_000 }, () => Math.random().toString(36)).join(' ')
    await expect(alice.publishSkill({ skillMd: skillMd('during', noise) })).rejects.toMatchObject({
      code: 'overloaded',
      status: 503,
    })
    await expect(alice.getSkill({ name: 'during' })).rejects.toMatchObject({ code: 'not_found' })
    expect((await alice.getSkill({ name: 'before' })).fullName).toBe('alice/before')
    await limitPages(1_000_000)
    await alice.publishSkill({ skillMd: skillMd('during', noise) })
    expect((await alice.searchSkills({ q: 'during' })).total).toBe(1)
    expect((await alice.getFeed({})).entries).toHaveLength(2)
  })

  it('a subscriber to changes is notified again after it fails, without delaying other subscribers', async () => {
    const alice = await open()
    const told: string[] = []
    let fails = true
    partsOf(registry).changes.follow(
      (changes) => {
        if (fails) throw new Error('The connection broke.')
        told.push(...changes.map(({ kind }) => kind))
      },
      () => {},
    )
    await alice.publishSkill({ skillMd: skillMd('public-once') })
    expect((await localApi(registry).getSkill({ name: 'public-once' })).fullName).toBe('alice/public-once')
    await alice.publishSkill({ name: 'public-once', visibility: 'private' })
    await expect(localApi(registry).getSkill({ name: 'public-once' })).rejects.toMatchObject({ code: 'not_found' })
    expect((await localApi(registry).searchSkills({ q: 'public' })).total).toBe(0)
    expect(errors.length).toBeGreaterThan(0)
    fails = false
    await partsOf(registry).changes.catchUp()
    expect(told).toEqual(['skill', 'skill'])
  })

  it('search becomes ready only once the database recovers', async () => {
    await open()
    const { path } = partsOf(registry).database
    const failed: unknown[] = []
    await partsOf(registry).database.writer.write((trx) => sql`alter table skills rename to gone`.execute(trx))
    const late = await openRegistry({ path: path!, works: false, onError: (error) => void failed.push(error) })
    await expect.poll(() => failed.length).toBeGreaterThan(0)
    expect((await late.readiness()).search).toBe(false)
    await partsOf(registry).database.writer.write((trx) => sql`alter table gone rename to skills`.execute(trx))
    await partsOf(late).search.warmed
    expect((await late.readiness()).search).toBe(true)
    expect(partsOf(late).search.warm).toBe(true)
    await late.close()
  })

  it('search moves to a thread when the catalogue becomes large, unless threads are disabled', async () => {
    for (const threads of [undefined, 'inline'] as const) {
      const started: unknown[] = []
      const note = (worker: unknown) => void started.push(worker)
      const path = join(await makeFolder(), 'skills.db')
      const growing = await openRegistry({ path, threadSkillsMin: 2, ...(threads && { threads }) })
      const { search } = partsOf(growing)
      await search.warmed
      await localApi(growing, systemCaller).createUser({ username: 'alice' })
      const alice = localApi(growing, await growing.getCaller('alice'))
      await alice.publishSkill({ skillMd: skillMd('sieve') })
      process.on('worker', note)
      await alice.publishSkill({ skillMd: skillMd('colander') })
      await alice.publishSkill({ skillMd: skillMd('strainer') })
      await search.warmed
      process.off('worker', note)
      expect([search.warm, search.size, started.length > 0]).toEqual([true, 3, threads === undefined])
      expect((await alice.searchSkills({ q: 'strainer' })).total).toBe(1)
      await growing.close()
    }
    await open()
  })

  it('search uses the database and is ready if the catalogue is too large for memory', async () => {
    const alice = await open()
    for (const name of ['one', 'two']) await alice.publishSkill({ skillMd: skillMd(name) })
    const large = await openRegistry({ path: partsOf(registry).database.path!, works: false, memorySkillsMax: 1 })
    await partsOf(large).search.warmed
    expect(partsOf(large).search.warm).toBe(false)
    expect((await large.readiness()).search).toBe(true)
    expect((await localApi(large).searchSkills({})).total).toBe(2)
    await large.close()
  })

  it('statements that were sent together with a failing statement change nothing, and the next write succeeds', async () => {
    await open()
    const { writer, read } = partsOf(registry).database
    const put = (trx: Pick<typeof read, 'insertInto'>, key: string, value: string) =>
      trx.insertInto('meta').values({ key, value }).execute()
    await limitPages(1)
    const both = writer.write((trx) =>
      Promise.allSettled([put(trx, 'large', 'x'.repeat(10_000_000)), put(trx, 'small', 'x')]),
    )
    await expect(both).rejects.toMatchObject({ code: 'SQLITE_FULL' })
    await limitPages(1_000_000)
    await writer.write((trx) => put(trx, 'later', 'x'))
    const keys = await read.selectFrom('meta').select('key').where('key', 'in', ['large', 'small', 'later']).execute()
    expect(keys).toEqual([{ key: 'later' }])
  })

  it('search uses the database while the thread of its index is replaced after a crash', async () => {
    const alice = await open()
    await alice.publishSkill({ skillMd: skillMd('sieve') })
    const started = once(process, 'worker') as Promise<[Worker]>
    const failed: unknown[] = []
    const path = partsOf(registry).database.path!
    const onError = (error: unknown) => void failed.push(error)
    const threaded = await openRegistry({ path, works: false, threadSkillsMin: 1, onError })
    const { search } = partsOf(threaded)
    await search.warmed
    const [thread] = await started
    const count = async () => (await localApi(threaded).searchSkills({ q: 'sieve' })).total
    const [, during] = await Promise.all([thread.terminate(), count()])
    expect(during).toBe(1)
    expect(failed).toEqual([new Error('The thread of the search index ended.')])
    await search.warmed
    expect([search.warm, await count()]).toEqual([true, 1])
    await threaded.close()
  })

  it('a full write queue refuses new writes, completes the queued ones and loses no download count', async () => {
    const alice = await open()
    await alice.publishSkill({ skillMd: skillMd('counted') })
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    const writes = [partsOf(registry).database.writer.write(() => held)]
    while (writes.length < 10_050) writes.push(partsOf(registry).database.writer.write(async () => {}))
    await localApi(registry).getSkillMd({ name: 'counted' })
    await partsOf(registry).counters.flush()
    release()
    const outcomes = await Promise.allSettled(writes)
    expect(outcomes.filter(({ status }) => status === 'rejected').length).toBeGreaterThan(0)
    await partsOf(registry).counters.flush()
    expect((await alice.getSkill({ name: 'counted' })).downloads).toBe(1)
  })
})
