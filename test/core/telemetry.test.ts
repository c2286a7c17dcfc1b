import { partsOf } from '@skillstead/core/internal'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { describeDatabases, startMs, type TestRegistry } from '../support/harness.ts'
import { advanceFar } from '../support/outbox-acts.ts'

const hourMs = 60 * 60 * 1000
const periodHours = { day: 24, week: 168, month: 720 } as const
const periods = Object.keys(periodHours) as (keyof typeof periodHours)[]

/** Events in a catalogue: some installs of one of its skills, after some hours. */
const happenings = fc.array(
  fc.record({
    hours: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 30 }), fc.integer({ min: 31, max: 2000 })),
    skill: fc.integer({ min: 0, max: 2 }),
    installs: fc.integer({ min: 1, max: 4 }),
    folds: fc.boolean(),
  }),
  { minLength: 1, maxLength: 12 },
)

describeDatabases('telemetry', (open, dialect) => {
  const openWithSkills = async (options?: Parameters<typeof open>[0]) => {
    const test = await open(options)
    const author = await test.makeUser('author')
    for (const name of ['a', 'b', 'c']) await author.api.publishSkill({ skillMd: skillMd(name) })
    return test
  }

  it('equals a full count of all installs for every period, at any hour', async () => {
    const test = await openWithSkills()
    await fc.assert(
      fc.asyncProperty(happenings, async (list) => {
        const { database, telemetry } = partsOf(test.registry)
        await database.writer.write(async (trx) => {
          for (const table of ['trends', 'install_hours', 'install_days'] as const)
            await trx.deleteFrom(table).execute()
          await trx.deleteFrom('meta').where('key', 'like', 'trends.%').execute()
        })
        test.clock.set(startMs)
        const installs: { hour: number; skill: string }[] = []
        for (const { hours, skill, installs: times, folds } of list) {
          test.clock.advance(hours * hourMs)
          const name = 'abc'[skill]!
          await install(test, name, times)
          for (let i = 0; i < times; i++) installs.push({ hour: Math.floor(test.clock.now() / hourMs), skill: name })
          if (folds) await telemetry.flush()
        }
        await telemetry.flush()
        const now = Math.floor(test.clock.now() / hourMs)
        for (const period of periods) {
          const { entries } = await test.api().getTrending({ period })
          const actual = entries.map(({ skill, installs: count, previousInstalls }) => [
            skill.name,
            count,
            previousInstalls,
          ])
          const expected = [...'abc'].map((name) => {
            const ages = installs.filter(({ skill }) => skill === name).map(({ hour }) => now - hour)
            const current = ages.filter((age) => age < periodHours[period]).length
            return [name, current, ages.filter((age) => age < 2 * periodHours[period]).length - current] as const
          })
          expect(actual.toSorted()).toEqual(expected.filter(([, current]) => current > 0))
        }
      }),
      { numRuns: dialect === 'SQLite' ? 60 : 25 },
    )
  })

  it('recovers from a clock that went far ahead and came back', async () => {
    // Housekeeping at that time would merge the hours, which cannot be reversed.
    const test = await openWithSkills({ works: false })
    await install(test, 'a', 2)
    await partsOf(test.registry).telemetry.flush()
    test.clock.advance(400 * 24 * hourMs)
    expect((await test.api().getTrending({ period: 'month' })).entries).toEqual([])
    test.clock.set(startMs + hourMs)
    await install(test, 'a', 3)
    await partsOf(test.registry).telemetry.flush()
    for (const period of periods) {
      const { entries } = await test.api().getTrending({ period })
      expect(entries.map(({ skill, installs }) => [skill.name, installs])).toEqual([['a', 5]])
    }
    test.clock.advance(800 * hourMs)
    const { entries } = await test.api().getTrending({ period: 'month' })
    expect(entries).toEqual([])
  })

  it('responds after the commit, so that a crash loses nothing', async () => {
    const test = await openWithSkills()
    // From here on nothing is counted automatically, not even half a second later.
    await partsOf(test.registry).telemetry.stop()
    await install(test, 'a', 5)
    // Another process opens what the first has committed but not yet counted.
    const other = await open({ at: test.location, works: false })
    const rows = await partsOf(other.registry).database.read.selectFrom('install_journal').selectAll().execute()
    const hours = await partsOf(other.registry).database.read.selectFrom('install_hours').selectAll().execute()
    const journal = rows.flatMap(({ counts }) =>
      Object.values(JSON.parse(counts) as Record<string, Record<string, number>>).flatMap(Object.values),
    ) as number[]
    expect([...journal, ...hours.map(({ installs }) => installs)].reduce((sum, n) => sum + n, 0)).toBe(5)
    await partsOf(other.registry).telemetry.flush()
    await partsOf(test.registry).telemetry.flush()
    const { entries } = await test.api().getTrending({})
    expect(entries.map(({ skill, installs }) => [skill.name, installs])).toEqual([['a', 5]])
    expect(await test.api().getSkill({ name: 'a' })).toMatchObject({ downloads: 5 })
  })

  it('counts installs together with later installs if the first count failed', async () => {
    const errors: unknown[] = []
    const test = await open({ onError: (error) => void errors.push(error) })
    const author = await test.makeUser('author')
    await author.api.publishSkill({ skillMd: skillMd('a') })
    const { database } = partsOf(test.registry)
    await database.writer.write((trx) => trx.schema.alterTable('trends').renameTo('trends_away').execute())
    await install(test, 'a', 2)
    await partsOf(test.registry).telemetry.flush()
    expect(errors).not.toEqual([])
    expect(await test.api().getSkill({ name: 'a' })).toMatchObject({ downloads: 0 })
    await database.writer.write((trx) => trx.schema.alterTable('trends_away').renameTo('trends').execute())
    await install(test, 'a')
    await partsOf(test.registry).telemetry.flush()
    expect(await test.api().getSkill({ name: 'a' })).toMatchObject({ downloads: 3 })
    expect((await test.api().getTrending({})).entries[0]).toMatchObject({ installs: 3 })
  })

  it('commits concurrent installs in one transaction', async () => {
    const test = await openWithSkills()
    await install(test, 'a', 100)
    const { count } = await partsOf(test.registry)
      .database.read.selectFrom('install_journal')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    expect(count).toBeLessThan(20)
    await partsOf(test.registry).telemetry.flush()
    expect(await test.api().getSkill({ name: 'a' })).toMatchObject({ downloads: 100 })
  })

  it('counts each install on two nodes once, whichever node counts it', async () => {
    const first = await openWithSkills()
    const second = await open({ at: first.location })
    for (const test of [first, second]) await install(test, 'a', 20)
    const readCounts = async () => {
      const rows = await partsOf(first.registry).database.read.selectFrom('install_hours').select('installs').execute()
      return rows.map(({ installs }) => installs)
    }
    await expect.poll(readCounts).toEqual([40])
    for (const test of [first, second]) {
      await install(test, 'b', 10)
      await expect.poll(async () => (await test.api().getSkill({ name: 'b' })).downloads).toBe(test === first ? 10 : 20)
    }
    expect(await first.api().getSkill({ name: 'a' })).toMatchObject({ downloads: 40 })
  })

  it('merges hours that are older than all periods into days, without losing installs', async () => {
    const test = await openWithSkills()
    await install(test, 'a', 2)
    test.clock.advance(hourMs)
    await install(test, 'a', 3)
    await partsOf(test.registry).telemetry.flush()
    await advanceFar(test, 90 * 24 * hourMs)
    await install(test, 'b')
    await partsOf(test.registry).telemetry.flush()
    const { database } = partsOf(test.registry)
    await expect
      .poll(() => database.read.selectFrom('install_days').select('installs').execute())
      .toEqual([{ installs: 5 }])
    const hours = await database.read.selectFrom('install_hours').select('installs').execute()
    expect(hours).toEqual([{ installs: 1 }])
  })
})

async function install(test: TestRegistry, name: string, times = 1): Promise<void> {
  await Promise.all(Array.from({ length: times }, () => test.api().track({ skillName: `author/${name}` })))
}
