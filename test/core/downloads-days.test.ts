import { setImmediate } from 'node:timers/promises'
import { partsOf } from '@skillstead/core/internal'
import { beforeAll, expect, it } from 'vitest'
import { codeOf, skillMd } from '../support/answers.ts'
import { describeApi, type TestRegistry, type TestUser } from '../support/harness.ts'
import { advanceFar } from '../support/outbox-acts.ts'

const dayMs = 24 * 60 * 60 * 1000

describeApi('downloads per day', (open) => {
  let test: TestRegistry
  let alice: TestUser
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    for (const name of ['used', 'unused']) await alice.api.publishSkill({ skillMd: skillMd(name) })
    await alice.api.publishSkill({ skillMd: skillMd('secret'), visibility: 'private' })
  })

  async function use(downloads: number, installs: number): Promise<void> {
    for (let i = 0; i < downloads; i++) await test.api().getSkillMd({ name: 'used' })
    for (let i = 0; i < installs; i++) await test.api().track({ skillName: 'used' })
    await partsOf(test.registry).counters.flush()
    await partsOf(test.registry).telemetry.flush()
  }

  it('are listed for every requested day, even for days without downloads', async () => {
    await use(2, 1)
    test.clock.advance(2 * dayMs)
    await use(1, 3)
    expect(await test.api().getDownloads({ name: 'used', days: 4 })).toEqual({
      days: [
        { day: '2026-01-01', downloads: 0, installs: 0 },
        { day: '2026-01-02', downloads: 3, installs: 1 },
        { day: '2026-01-03', downloads: 0, installs: 0 },
        { day: '2026-01-04', downloads: 4, installs: 3 },
      ],
      total: 7,
    })
    expect((await test.api().getSkill({ name: 'used' })).downloads).toBe(7)
    const month = await test.api().getDownloads({ name: 'used' })
    expect([month.days.length, month.days.at(-1)!.day, month.total]).toEqual([30, '2026-01-04', 7])
  })

  it('include no downloads of other skills, and are hidden for a private skill', async () => {
    expect((await test.api().getDownloads({ name: 'unused' })).total).toBe(0)
    expect(await codeOf(test.api().getDownloads({ name: 'alice/secret' }))).toBe('not_found')
    expect((await alice.api.getDownloads({ name: 'alice/secret' })).total).toBe(0)
    for (const days of [0, 366, 1.5]) {
      expect(await codeOf(test.api().getDownloads({ name: 'used', days })), `${days}`).toBe('invalid_request')
    }
  })

  it('are shown by version to readers, and by kind of client to the owner', async () => {
    const fresh = await open()
    const owner = await fresh.makeUser('alice')
    const reader = await fresh.makeUser('bob')
    for (const version of ['1.0.0', '1.1.0']) await owner.api.publishSkill({ skillMd: skillMd('grouped'), version })
    expect((await owner.api.getDownloads({ name: 'grouped', by: 'version' })).groups).toEqual([])
    for (const version of ['1.0.0', '1.1.0', '1.1.0']) await fresh.api().getSkillMd({ name: 'grouped', version })
    await fresh.api().track({ skillName: 'grouped' })
    await partsOf(fresh.registry).counters.flush()
    await partsOf(fresh.registry).telemetry.flush()
    const by = async (group: 'version' | 'client', days = 30) =>
      (await owner.api.getDownloads({ name: 'grouped', by: group, days })).groups
    const reported = { name: 'other', downloads: 1, installs: 1 }
    expect(await by('version')).toEqual([
      { name: '1.1.0', downloads: 2, installs: 0 },
      { name: '1.0.0', downloads: 1, installs: 0 },
      reported,
    ])
    expect(await by('client')).toEqual([{ name: 'api', downloads: 3, installs: 0 }, reported])
    fresh.clock.advance(dayMs)
    expect(await by('client', 1)).toEqual([])
    for (const api of [fresh.api(), reader.api]) {
      expect(await codeOf(api.getDownloads({ name: 'grouped', by: 'client' }))).toBe('forbidden')
      const { groups = [] } = await api.getDownloads({ name: 'grouped', by: 'version' })
      expect(groups.map(({ name }) => name)).toEqual(['1.1.0', '1.0.0', 'other'])
    }
    expect(await codeOf(owner.api.getDownloads({ name: 'grouped', by: 'address' as 'client' }))).toBe('invalid_request')
    expect(await fresh.api().getDownloads({ name: 'grouped' })).not.toHaveProperty('groups')
    await owner.api.publishSkill({ name: 'grouped', visibility: 'private' })
    expect(await codeOf(reader.api.getDownloads({ name: 'alice/grouped', by: 'version' }))).toBe('not_found')
    await advanceFar(fresh, 400 * dayMs)
    const readRows = () => partsOf(fresh.registry).database.read.selectFrom('download_details').selectAll().execute()
    await expect.poll(async () => (await readRows()).length).toBe(0)
  })

  it('stay the same when hourly counts are merged into daily counts, and are deleted after a year', async () => {
    const before = await test.api().getDownloads({ name: 'used', days: 365 })
    await advanceFar(test, 100 * dayMs)
    await use(1, 1)
    await expect
      .poll(
        async () =>
          (await partsOf(test.registry).database.read.selectFrom('install_days').select('day').execute()).length,
      )
      .toBeGreaterThan(0)
    const after = await test.api().getDownloads({ name: 'used', days: 365 })
    expect(after.total).toBe(before.total + 2)
    expect(after.days.find(({ day }) => day === '2026-01-04')).toEqual({ day: '2026-01-04', downloads: 4, installs: 3 })
    await advanceFar(test, 300 * dayMs)
    const readDays = () => partsOf(test.registry).database.read.selectFrom('download_days').select('day').execute()
    await expect.poll(async () => (await readDays()).length).toBe(1)
    expect((await test.api().getDownloads({ name: 'used', days: 365 })).total).toBe(2)
  })

  it('include all installs while hours are being merged into days', async () => {
    const fresh = await open()
    const { api } = await fresh.makeUser('alice')
    await api.publishSkill({ skillMd: skillMd('busy') })
    for (let day = 0; day < 20; day += 1) {
      await fresh.api().track({ skillName: 'busy' })
      await partsOf(fresh.registry).telemetry.flush()
      fresh.clock.advance(dayMs)
    }
    const readHours = () => partsOf(fresh.registry).database.read.selectFrom('install_hours').select('hour').execute()
    expect(await readHours()).toHaveLength(20)
    await advanceFar(fresh, 100 * dayMs)
    const totals = new Set<number>()
    do {
      const { days } = await api.getDownloads({ name: 'busy', days: 365 })
      totals.add(days.reduce((sum, { installs }) => sum + installs, 0))
      // Without this, reads in this process would leave the roll-up no turn.
      await setImmediate()
    } while ((await readHours()).length > 0)
    expect([...totals]).toEqual([20])
  })
})
