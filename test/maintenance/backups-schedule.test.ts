import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { localApi, systemCaller, type Registry } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import type { BackupPlan } from '@skillstead/maintenance'
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { skillstead } from '../support/cli-harness.ts'
import { createClock, startMs, type TestClock } from '../support/harness.ts'
import { letLook } from '../support/outbox-acts.ts'
import { makePlace } from '../support/places.ts'
import { openRegistry } from '../support/open-registry.ts'

const isMissing = inject('postgresUrl') === null
const skipped = isMissing ? ': skipped, for PostgreSQL could not be started' : ''
const hourMs = 60 * 60 * 1000
const minuteMs = 60_000
const plan: BackupPlan = { everyMs: 6 * hourMs, backupsMax: 3 }

let root: string
let made = 0
beforeAll(async () => void (root = await mkdtemp(join(tmpdir(), 'scheduled-'))))
afterAll(() => rm(root, { recursive: true, force: true }))

/** A folder for a registry, and a function that lists its backups. */
async function makeData() {
  const data = join(root, `${(made += 1)}`)
  await mkdir(data)
  const folder = join(data, 'backups')
  return { path: join(data, 'skillstead.db'), folder, names: () => readdir(folder).catch(() => [] as string[]) }
}

async function open(path: string, clock: TestClock, backups: BackupPlan | undefined = plan) {
  const errors: string[] = []
  const registry = await openRegistry({ path, clock, backups, onError: (error) => void errors.push(String(error)) })
  onTestFinished(() => registry.close())
  return { registry, errors }
}

const toName = (ms: number) => `${new Date(ms).toISOString().replaceAll(/[:.]/g, '-')}.scheduled.db`
const readList = (registry: Registry) => localApi(registry, systemCaller).listBackups()
/** After the running backup has completed and the next one is scheduled. */
const untilNext = (registry: Registry, nextMs: number) =>
  expect.poll(async () => (await readList(registry)).schedule!.nextAt).toBe(new Date(nextMs).toISOString())

describe('scheduled backups', () => {
  it('are made on schedule, and only the newest are retained', async () => {
    const { path, folder, names } = await makeData()
    const clock = createClock()
    const { registry, errors } = await open(path, clock)
    const times: number[] = []
    for (let i = 0; i < 5; i += 1) {
      times.push(clock.now())
      await untilNext(registry, clock.now() + plan.everyMs)
      expect(await names()).toEqual(times.slice(-plan.backupsMax).map(toName))
      clock.advance(plan.everyMs - 1)
      await letLook()
      expect(await names(), 'not before it is due').toHaveLength(Math.min(plan.backupsMax, times.length))
      clock.advance(1)
    }
    const copy = await openRegistry({ path: join(folder, toName(times.at(-1)!)), works: false })
    expect(partsOf(copy).origin).toBe(partsOf(registry).origin)
    await copy.close()
    const { entries } = await localApi(registry, systemCaller).listAudit({ action: 'backup.create' })
    expect(entries[0]).toMatchObject({ actor: 'system' })
    expect(errors).toEqual([])
  })

  it('delete only files that a schedule created', async () => {
    const { path, folder, names } = await makeData()
    const clock = createClock()
    await mkdir(folder)
    const others = [
      '2020-01-01T00-00-00-000Z.db',
      'mine.scheduled.db',
      '2020-01-01T00-00-00-000Z.scheduled.db.gz',
      'x2020-01-01T00-00-00-000Z.scheduled.db',
      'notes.txt',
    ]
    for (const name of others) await writeFile(join(folder, name), 'mine')
    await mkdir(join(folder, '2020-01-02T00-00-00-000Z.scheduled.db'))
    await symlink(path, join(folder, '2020-01-03T00-00-00-000Z.scheduled.db'))
    const { registry } = await open(path, clock, { everyMs: hourMs, backupsMax: 1 })
    await untilNext(registry, startMs + hourMs)
    const byHand = (await localApi(registry, systemCaller).createBackup({})).name
    for (let i = 1; i < 4; i += 1) {
      clock.advance(hourMs)
      await untilNext(registry, startMs + (i + 1) * hourMs)
    }
    const expected = [
      ...others,
      '2020-01-02T00-00-00-000Z.scheduled.db',
      '2020-01-03T00-00-00-000Z.scheduled.db',
      byHand,
    ]
    expect((await names()).toSorted()).toEqual([...expected, toName(startMs + 3 * hourMs)].toSorted())
  })

  it('run once after a missed time, and keep their schedule after a restart', async () => {
    const { path, names } = await makeData()
    const clock = createClock()
    const first = await open(path, clock)
    await untilNext(first.registry, startMs + plan.everyMs)
    await first.registry.close()
    clock.advance(hourMs)
    const second = await open(path, clock)
    await untilNext(second.registry, startMs + plan.everyMs)
    await letLook()
    expect(await names(), 'nothing is due').toHaveLength(1)
    await second.registry.close()
    clock.advance(10 * plan.everyMs)
    const third = await open(path, clock)
    await untilNext(third.registry, clock.now() + plan.everyMs)
    expect(await names(), 'one for all that were missed').toEqual([toName(startMs), toName(clock.now())])
    await third.registry.close()
    const sooner = await open(path, clock, { everyMs: hourMs, backupsMax: 3 })
    await untilNext(sooner.registry, clock.now() + hourMs)
    const rows = await partsOf(sooner.registry)
      .database.read.selectFrom('outbox')
      .select('state')
      .where('topic', '=', 'backup')
      .where('state', '=', 'pending')
      .execute()
    expect(rows, 'they do not pile up').toHaveLength(1)
  })

  it('are made only once if two processes have the registry open', async () => {
    const { path, names } = await makeData()
    const clock = createClock()
    const [one, other] = [await open(path, clock), await open(path, clock)]
    await untilNext(one.registry, startMs + plan.everyMs)
    for (let i = 1; i < 4; i += 1) {
      clock.advance(plan.everyMs)
      await untilNext(other.registry, clock.now() + plan.everyMs)
    }
    const { entries } = await localApi(one.registry, systemCaller).listAudit({ action: 'backup.create' })
    expect(entries).toHaveLength(4)
    expect(await names()).toHaveLength(3)
    expect([...one.errors, ...other.errors]).toEqual([])
  })

  it('that fail delete no older backup, are retried, and are reported as failing', async () => {
    const { path, folder, names } = await makeData()
    const clock = createClock()
    const { registry, errors } = await open(path, clock)
    await untilNext(registry, startMs + plan.everyMs)
    const metrics = async () =>
      Object.fromEntries(
        (await registry.metrics()).map(({ name, value }) => [name.replace('skillstead_backup_', ''), value]),
      )
    expect(await metrics()).toMatchObject({ last_success_seconds: startMs / 1000, failing: 0 })
    const aside = `${folder}-aside`
    await rename(folder, aside)
    await writeFile(folder, 'Something that is no folder is in the way.')
    clock.advance(plan.everyMs)
    await untilNext(registry, clock.now() + 5 * minuteMs)
    expect(errors).toEqual([expect.stringMatching(/^Error: A scheduled backup failed: /)])
    await rm(folder)
    await rename(aside, folder)
    expect((await readList(registry)).schedule).toEqual({
      everySeconds: 21_600,
      backupsMax: 3,
      lastAt: new Date(startMs).toISOString(),
      lastError: expect.stringContaining('there is a file of this name'),
      nextAt: new Date(clock.now() + 5 * minuteMs).toISOString(),
    })
    expect(await metrics()).toMatchObject({ last_success_seconds: startMs / 1000, failing: 1 })
    expect(await names(), 'the old one is kept').toEqual([toName(startMs)])
    clock.advance(5 * minuteMs)
    await untilNext(registry, clock.now() + plan.everyMs)
    expect((await readList(registry)).schedule).toMatchObject({
      lastError: null,
      lastAt: new Date(clock.now()).toISOString(),
    })
    expect(await metrics()).toMatchObject({ last_success_seconds: clock.now() / 1000, failing: 0 })
  })

  it('continue after the clock was set forward and back, and retain the newest backups', async () => {
    const { path, names } = await makeData()
    const clock = createClock()
    const { registry } = await open(path, clock, { everyMs: hourMs, backupsMax: 2 })
    await untilNext(registry, startMs + hourMs)
    clock.advance(10_000 * hourMs)
    await untilNext(registry, clock.now() + hourMs)
    clock.set(startMs + minuteMs)
    await untilNext(registry, clock.now() + hourMs)
    expect((await readList(registry)).schedule).toMatchObject({ lastAt: new Date(startMs).toISOString() })
    const newest: string[] = []
    for (let times = 0; times < 2; times++) {
      clock.advance(hourMs)
      await untilNext(registry, clock.now() + hourMs)
      newest.push(toName(clock.now()))
    }
    expect((await names()).toSorted()).toEqual(newest)
  })

  it('never delete the newest backup after the clock was set back', async () => {
    const { path, names } = await makeData()
    const clock = createClock()
    const { registry } = await open(path, clock, { everyMs: hourMs, backupsMax: 1 })
    await untilNext(registry, startMs + hourMs)
    await registry.close()
    clock.set(startMs - 100 * hourMs)
    const again = await open(path, clock, { everyMs: hourMs, backupsMax: 1 })
    await untilNext(again.registry, clock.now() + hourMs)
    clock.advance(hourMs)
    await untilNext(again.registry, clock.now() + hourMs)
    expect(await names()).toEqual([toName(clock.now())])
  })

  it('are off by default, and off again if a restart omits the option', async () => {
    const { path, names } = await makeData()
    const clock = createClock()
    const { registry } = await open(path, clock)
    await untilNext(registry, startMs + plan.everyMs)
    await registry.close()
    const without = await openRegistry({ path, clock })
    onTestFinished(() => without.close())
    clock.advance(3 * plan.everyMs)
    await letLook()
    expect(await readList(without)).toMatchObject({ total: 1, schedule: null })
    expect(await names()).toHaveLength(1)
    expect((await without.metrics()).map(({ name }) => name)).not.toContain('skillstead_backup_failing')
    const waiting = await partsOf(without)
      .database.read.selectFrom('outbox')
      .select('topic')
      .where('state', '=', 'pending')
      .execute()
    expect(waiting.map(({ topic }) => topic)).not.toContain('backup')
  })

  it('are refused for a registry in memory, and for an invalid schedule', async () => {
    await expect(openRegistry({ path: ':memory:', backups: plan })).rejects.toMatchObject({ code: 'not_implemented' })
    for (const wrong of [{ backupsMax: 0 }, { everyMs: 59_000 }, { everyMs: Number.NaN }]) {
      await expect(openRegistry({ path: join(root, 'no.db'), backups: { ...plan, ...wrong } })).rejects.toThrow(
        TypeError,
      )
    }
    expect(existsSync(join(root, 'no.db'))).toBe(false)
  })

  it.skipIf(isMissing)(`are refused on PostgreSQL${skipped}`, async () => {
    const { location, remove } = await makePlace('PostgreSQL')
    await expect(openRegistry({ ...location, backups: plan })).rejects.toThrow('pg_dump')
    await remove()
  })

  it('are refused by skillstead serve if the options are invalid', async () => {
    const refusals = [
      [['--backup-every', '5'], "'5' is not a backup interval. Use a time such as 30m, 6h, 1d or 1w."],
      [['--backup-every', '1d', '--backups-max', '0'], "'0' is not a number of backups. Use 1 or more."],
      [['--backups-max', '3'], '--backups-max needs --backup-every. Pass both.'],
    ] as const
    const data = join(root, 'refused')
    for (const [options, sentence] of refusals) {
      const { code, stderr } = await skillstead(['serve', '--data', data, '--port', '0', ...options])
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(sentence) })
    }
    expect(existsSync(join(data, 'skillstead.db'))).toBe(false)
  })
})
