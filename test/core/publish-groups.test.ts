import { setImmediate } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { sql } from 'kysely'
import { join } from 'node:path'
import { importVersions, partsOf } from '@skillstead/core/internal'
import { localApi, systemCaller, type Registry } from '@skillstead/core'
import { checkRegistry } from '@skillstead/maintenance'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { makeFolder } from '../support/cli-harness.ts'
import { openRegistry } from '../support/open-registry.ts'
import { sampleOf } from '../support/security-samples.ts'

const skillMd = (name: string, body = 'Do it.') =>
  `---\nname: ${name}\ndescription: Does ${name}.\n---\n# ${name}\n\n${body}\n`
const namesOf = (count: number) => Array.from({ length: count }, (_, i) => `skill-${i}`)
/** Random text, so that compressing does not make it fit. */
const noise = () => Array.from({ length: 2000 }, () => Math.random().toString(36)).join(' ')

let registry: Registry
let alice: ReturnType<typeof localApi>

beforeEach(async () => {
  const path = join(await makeFolder(), 'skills.db')
  registry = await openRegistry({ path, scanPolicy: { dangerous: 'quarantine' }, onError: () => {} })
  await localApi(registry, systemCaller).createUser({ username: 'alice', plan: 'enterprise' })
  alice = localApi(registry, await registry.getCaller('alice'))
})
afterEach(async () => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  await registry.close()
})

const publishAll = (names: readonly string[], toBody?: (name: string) => string) =>
  Promise.allSettled(names.map((name) => alice.publishSkill({ skillMd: skillMd(name, toBody?.(name)) })))

const run = (text: string) => partsOf(registry).database.writer.write((trx) => sql.raw(text).execute(trx))

async function listStored(): Promise<string[]> {
  const { read } = partsOf(registry).database
  return (await read.selectFrom('skills').select('name').execute()).map(({ name }) => name).toSorted()
}

/** Checks that the registry has exactly these skills, and that every row, digest and log entry of it is whole. */
async function expectStored(names: readonly string[]): Promise<void> {
  expect(await listStored()).toEqual(names.toSorted())
  expect((await alice.getFeed({ limit: 100 })).entries).toHaveLength(names.length)
  expect((await checkRegistry(registry, { deep: true })).filter(({ ok }) => !ok)).toEqual([])
}

/** A write, with whether it was answered. */
function put(key: string) {
  const { writer } = partsOf(registry).database
  const write = { key, isDone: false, done: Promise.resolve() }
  write.done = writer
    .write((trx) => trx.insertInto('meta').values({ key, value: '' }).execute())
    .then(() => void (write.isDone = true))
  return write
}
async function turn() {
  for (let i = 0; i < 20; i++) await setImmediate()
}

describe('publishes at the same time', () => {
  it('share a commit, which waits until half of the publishes in preparation are ready', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { writer } = partsOf(registry).database
    const [endFirst, endSecond, endThird] = Array.from({ length: 4 }, () => writer.announce())
    endFirst!()
    const first = put('a')
    await turn()
    expect(first.isDone).toBe(false)
    endSecond!()
    const second = put('b')
    await Promise.all([first.done, second.done])
    endThird!()
    await put('c').done
  })

  it('wait at most a second for publishes in preparation, and not for a publish whose preparation failed', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { writer } = partsOf(registry).database
    const ends = Array.from({ length: 2 }, () => writer.announce())
    const late = put('late')
    await turn()
    expect(late.isDone).toBe(false)
    vi.advanceTimersByTime(1000)
    await late.done
    const next = put('next')
    await turn()
    expect(next.isDone).toBe(false)
    ends.pop()!()
    await next.done
    vi.useRealTimers()
    ends.pop()!()
    await expect(alice.publishSkill({ skillMd: 'no frontmatter' })).rejects.toMatchObject({ code: 'invalid_skill' })
    await alice.publishSkill({ skillMd: skillMd('after') })
  })

  it('each have their own result if one publish is refused, quarantined or fails in the database', async () => {
    // The first and the last statement of a publish.
    for (const [at, when] of [
      ['skills', "new.name = 'skill-7'"],
      ['audit', "new.subject = 'alice/skill-9@1.0.0'"],
    ])
      await run(`create trigger poison_${at} before insert on ${at} when ${when}
        begin select raise(abort, 'poisoned'); end`)
    const names = namesOf(20)
    const outcomes = await Promise.allSettled(
      names.map((name, i) =>
        alice.publishSkill({ skillMd: i === 3 ? sampleOf('dangerous', name) : i === 5 ? 'nothing' : skillMd(name) }),
      ),
    )
    const failed = outcomes.flatMap(({ status }, i) => (status === 'rejected' ? [i] : []))
    expect(failed).toEqual([5, 7, 9])
    expect(outcomes[5]).toMatchObject({ reason: { code: 'invalid_skill' } })
    for (const i of [7, 9])
      expect(outcomes[i]).toMatchObject({ reason: { message: expect.stringContaining('poisoned') } })
    expect(outcomes[3]).toMatchObject({ value: { created: false, quarantined: {} } })
    const others = names.filter((_, i) => ![3, 5, 7, 9].includes(i))
    const answers = outcomes.filter((_, i) => ![3, 5, 7, 9].includes(i))
    expect(answers).toMatchObject(others.map((name) => ({ value: { created: true, skill: { name } } })))
    for (const at of ['skills', 'audit']) await run(`drop trigger poison_${at}`)
    await expectStored(others)
  })

  it('are all scanned and stored even if their worker thread dies', async () => {
    const { postMessage } = Worker.prototype
    let killed = 0
    vi.spyOn(Worker.prototype, 'postMessage').mockImplementation(function (this: Worker, message: object) {
      postMessage.call(this, message)
      if (!('packages' in message) || killed >= 2) return
      killed++
      void this.terminate()
    })
    const names = namesOf(12)
    const outcomes = await publishAll(names, (name) =>
      name === 'skill-4' ? 'Word. '.repeat(20_000) : 'Do it with threads.',
    )
    expect(killed).toBe(2)
    outcomes.forEach((outcome, i) =>
      expect(outcome).toMatchObject({
        value: { created: true, skill: { name: names[i] }, version: { security: { verdict: 'safe' } } },
      }),
    )
    await expectStored(names)
  })

  it.each([20, 60, 120])('lose no acknowledged version if the disk is full after %i more pages', async (pages) => {
    const { writer, read } = partsOf(registry).database
    await alice.publishSkill({ skillMd: skillMd('before') })
    const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(read)
    const limitPages = (max: number) => writer.write((trx) => sql`pragma max_page_count = ${sql.lit(max)}`.execute(trx))
    await limitPages(rows[0]!.page_count + pages)
    const names = namesOf(30)
    const outcomes = await publishAll(names, noise)
    const stored = names.filter((_, i) => outcomes[i]!.status === 'fulfilled')
    const refusals = outcomes.filter(({ status }) => status === 'rejected')
    expect(refusals).toMatchObject(refusals.map(() => ({ reason: { code: 'overloaded', status: 503 } })))
    expect(stored.length).toBeLessThan(names.length)
    expect(await listStored()).toEqual(['before', ...stored].toSorted())
    await limitPages(1_000_000)
    const again = await publishAll(
      names.filter((name) => !stored.includes(name)),
      noise,
    )
    expect(again.filter(({ status }) => status === 'rejected')).toEqual([])
    await expectStored(['before', ...names])
  })
})

describe('a dangerous version in an import of a hundred versions', () => {
  it.each([
    ['has no frontmatter', { skillMd: 'nothing', name: undefined }, 'invalid_skill'],
    ['has a path that leaves its folder', { files: [{ path: '../x', bytes: Buffer.from('x') }] }, 'invalid_skill'],
    ['has the name of a skill that was deleted', { name: 'deleted', skillMd: skillMd('deleted') }, 'name_taken'],
  ])('%s, and all other versions are stored', async (_, poison, code) => {
    await alice.publishSkill({ skillMd: skillMd('deleted') })
    await alice.deleteSkill({ name: 'alice/deleted' })
    const items = namesOf(100).map((name) => ({ owner: 'alice', name, skillMd: skillMd(name) }))
    items[41] = { ...items[41]!, ...poison } as (typeof items)[number]
    const outcomes = await importVersions(partsOf(registry), items, systemCaller)
    expect(outcomes).toHaveLength(100)
    expect(outcomes[41]!.error).toMatchObject({ code })
    const others = namesOf(100).filter((_name, i) => i !== 41)
    const stored = others.map((name) => ({ fullName: `alice/${name}`, created: true }))
    expect(outcomes.toSpliced(41, 1)).toMatchObject(stored)
    expect(await listStored()).toEqual([...others, 'deleted'].toSorted())
  })

  it('is quarantined, and all other versions are published', async () => {
    const items = namesOf(100).map((name, i) => ({
      owner: 'alice',
      name,
      skillMd: i === 41 ? sampleOf('dangerous', name) : skillMd(name),
    }))
    const outcomes = await importVersions(partsOf(registry), items, systemCaller)
    expect(outcomes[41]).toMatchObject({ created: false, quarantineId: expect.any(String) })
    await expectStored(namesOf(100).filter((_, i) => i !== 41))
  })
})
