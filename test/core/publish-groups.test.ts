import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import { type ImportedVersion, importVersions, partsOf } from '@skillstead/core/internal'
import { systemCaller, type Registry } from '@skillstead/core'
import { checkRegistry } from '@skillstead/maintenance'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { describeDatabases, type TestRegistry, type TestUser } from '../support/harness.ts'
import { onInspectOrder } from '../support/inspect-threads.ts'
import { poisonRows, poisonText, type Poison } from '../support/poison.ts'
import { sampleOf } from '../support/security-samples.ts'

const skillMd = (name: string, body = 'Do it.') =>
  `---\nname: ${name}\ndescription: Does ${name}.\n---\n# ${name}\n\n${body}\n`
const namesOf = (count: number) => Array.from({ length: count }, (_, i) => `skill-${i}`)
/** Random text, so that compressing does not make it fit. */
const noise = () => Array.from({ length: 2000 }, () => Math.random().toString(36)).join(' ')

async function turn() {
  for (let i = 0; i < 20; i++) await setImmediate()
}

describeDatabases('a group of publishes', (open, dialect) => {
  let test: TestRegistry
  let registry: Registry
  let alice: TestUser['api']
  let errors: unknown[]

  beforeEach(async () => {
    errors = []
    test = await open({ scanPolicy: { dangerous: 'quarantine' }, onError: (error) => void errors.push(error) })
    registry = test.registry
    alice = (await test.makeUser('alice', { plan: 'enterprise' })).api
  })
  afterEach(async () => {
    vi.useRealTimers()
    await test.close()
  })

  const publishAll = (names: readonly string[], toBody?: (name: string) => string) =>
    Promise.allSettled(names.map((name) => alice.publishSkill({ skillMd: skillMd(name, toBody?.(name)) })))

  const poison = (one: Poison) => poisonRows(partsOf(registry).database, one)

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
  const importAll = (items: readonly ImportedVersion[]) => importVersions(partsOf(registry), items, systemCaller)

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
      const heals = [
        await poison({ table: 'skills', when: "new.name = 'skill-7'" }),
        await poison({ table: 'audit', when: "new.subject = 'alice/skill-9@1.0.0'" }),
      ]
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
        expect(outcomes[i]).toMatchObject({ reason: { message: expect.stringContaining(poisonText) } })
      expect(outcomes[3]).toMatchObject({ value: { created: false, quarantined: {} } })
      const others = names.filter((_, i) => ![3, 5, 7, 9].includes(i))
      const answers = outcomes.filter((_, i) => ![3, 5, 7, 9].includes(i))
      expect(answers).toMatchObject(others.map((name) => ({ value: { created: true, skill: { name } } })))
      for (const heal of heals) await heal()
      await expectStored(others)
    })

    it('each have their own result if the disk is full for one of them', async () => {
      const heal = await poison({ table: 'versions', when: "new.version = '1.7.0'", as: 'full disk' })
      const names = namesOf(20)
      const outcomes = await Promise.allSettled(
        names.map((name, i) => alice.publishSkill({ skillMd: skillMd(name), version: `1.${i}.0` })),
      )
      expect(outcomes[7]).toMatchObject({ reason: { code: 'overloaded', status: 503, retryAfterSeconds: 30 } })
      const others = names.toSpliced(7, 1)
      expect(outcomes.toSpliced(7, 1)).toMatchObject(
        others.map((name) => ({ value: { created: true, skill: { name } } })),
      )
      await heal()
      await expectStored(others)
      await alice.publishSkill({ skillMd: skillMd('skill-7'), version: '1.7.0' })
      await expectStored(names)
    })

    it('are all scanned and stored even if their worker thread dies', async () => {
      let killed = 0
      const end = onInspectOrder((thread) => {
        if (killed >= 2) return
        killed++
        void thread.terminate()
      })
      onTestFinished(end)
      const names = namesOf(12)
      // Other texts than those of the tests before, whose inspections are cached.
      const outcomes = await publishAll(names, (name) => `${dialect}. `.repeat(name === 'skill-4' ? 20_000 : 20))
      expect(killed).toBe(2)
      outcomes.forEach((outcome, i) =>
        expect(outcome).toMatchObject({
          value: { created: true, skill: { name: names[i] }, version: { security: { verdict: 'safe' } } },
        }),
      )
      await expectStored(names)
    })

    it.runIf(dialect === 'SQLite').each([20, 60, 120])(
      'lose no acknowledged version if the disk is full after %i more pages (not on PostgreSQL, which has no such limit)',
      async (pages) => {
        const { writer, read } = partsOf(registry).database
        await alice.publishSkill({ skillMd: skillMd('before') })
        const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(read)
        const limitPages = (max: number) =>
          writer.write((trx) => sql`pragma max_page_count = ${sql.lit(max)}`.execute(trx))
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
      },
    )
  })

  describe('an import of a hundred versions', () => {
    const toItems = () => namesOf(100).map((name) => ({ owner: 'alice', name, skillMd: skillMd(name) }))
    const others = namesOf(100).toSpliced(41, 1)
    const stored = others.map((name) => ({ fullName: `alice/${name}`, created: true }))

    it.each([
      ['without frontmatter and name', { skillMd: 'nothing', name: undefined }, 'invalid_skill'],
      ['with a path that leaves its folder', { files: [{ path: '../x', bytes: Buffer.from('x') }] }, 'invalid_skill'],
      ['with the name of a deleted skill', { name: 'deleted', skillMd: skillMd('deleted') }, 'name_taken'],
    ])('refuses a version %s, and stores all others', async (_, changes, code) => {
      await alice.publishSkill({ skillMd: skillMd('deleted') })
      await alice.deleteSkill({ name: 'alice/deleted' })
      const items = toItems()
      items[41] = { ...items[41]!, ...changes } as (typeof items)[number]
      const outcomes = await importAll(items)
      expect(outcomes).toHaveLength(100)
      expect(outcomes[41]!.error).toMatchObject({ code })
      expect(outcomes.toSpliced(41, 1)).toMatchObject(stored)
      expect(await listStored()).toEqual([...others, 'deleted'].toSorted())
      expect(errors).toEqual([])
    })

    it('quarantines a dangerous version, and publishes all others', async () => {
      const items = toItems()
      items[41]!.skillMd = sampleOf('dangerous', 'skill-41')
      const outcomes = await importAll(items)
      expect(outcomes[41]).toMatchObject({ created: false, quarantineId: expect.any(String) })
      await expectStored(others)
    })

    it.each([
      { table: 'skills', when: "new.name = 'skill-41'" },
      { table: 'log', when: "new.subject = 'alice/skill-41@1.0.0'" },
    ])(
      'refuses a version whose row of $table fails, reports why to the operator, and stores all others',
      async (one) => {
        const heal = await poison(one)
        const outcomes = await importAll(toItems())
        expect(outcomes.toSpliced(41, 1)).toMatchObject(stored)
        const { message } = outcomes[41]!.error!
        expect(outcomes[41]!.error).toMatchObject({ code: 'internal' })
        expect(message).toBe(
          'The version could not be stored because of an internal error. The error log has the cause.',
        )
        const cause = expect.objectContaining({ message: expect.stringContaining(poisonText) })
        expect(errors).toMatchObject([{ message: 'A version of alice/skill-41 could not be imported.', cause }])
        await heal()
        await expectStored(others)
        expect(await importAll(toItems())).toMatchObject(namesOf(100).map((_, i) => ({ created: i === 41 })))
        await expectStored(namesOf(100))
      },
    )

    it('ends with the error of a full disk, and continues when repeated', async () => {
      const heal = await poison({ table: 'skills', when: "new.name = 'skill-41'", as: 'full disk' })
      const failure = await importAll(toItems()).catch((error: unknown) => error)
      expect(failure).toMatchObject({ code: 'overloaded', message: expect.stringContaining('disk of this registry') })
      expect(await listStored()).not.toContain('skill-41')
      expect(errors).toEqual([])
      await heal()
      expect((await importAll(toItems())).filter(({ error }) => error)).toEqual([])
      await expectStored(namesOf(100))
    })
  })
})
