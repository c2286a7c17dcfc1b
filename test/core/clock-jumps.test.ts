import { partsOf } from '@skillstead/core/internal'
import { expect, it } from 'vitest'
import { rotateKey } from '../../packages/core/src/log/signing-keys.ts'
import { skillMd } from '../support/answers.ts'
import { createClock, describeDatabases, type TestRegistry } from '../support/harness.ts'
import { leaseMs, outboxOf } from '../support/outbox-acts.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const decadeMs = 3650 * dayMs

const jobs = outboxOf('job')
const housekeeping = outboxOf('housekeeping')

/** Advances the clock to the next run of the housekeeping, and waits for its end. */
async function keepHouse(test: TestRegistry, advanceMs: number): Promise<void> {
  const before = await housekeeping.countDone(test)
  test.clock.advance(advanceMs)
  await expect.poll(() => housekeeping.countDone(test), { timeout: 10_000 }).toBe(before + 1)
}

/** How long the pending rows wait, shortest first. */
async function dueInMs(test: TestRegistry, of = jobs): Promise<number[]> {
  const rows = (await of.rowsOf(test)).filter(({ state }) => state === 'pending')
  for (const row of rows) expect(row.claimable_at).toBe(row.due_at)
  return rows.map((row) => row.due_at - test.clock.now()).toSorted((a, b) => a - b)
}

/** Sets the clock and runs a job that fails. Returns the times of its attempts. */
async function failOnceAt(test: TestRegistry, at: number): Promise<number[]> {
  const started: number[] = []
  partsOf(test.registry).outbox.handle('job', {
    retryDelaysMs: [minuteMs, 5 * minuteMs],
    async handle() {
      started.push(test.clock.now())
      throw new Error('fails')
    },
  })
  test.clock.set(at)
  await jobs.enqueue(test, { payload: { n: 1 } })
  await expect.poll(() => dueInMs(test)).toEqual([minuteMs])
  return started
}

describeDatabases('a clock that jumps', (open, dialect) => {
  it('far ahead causes no deletion of data before the clock was steady for an hour', async () => {
    const test = await open()
    const { read, writer } = partsOf(test.registry).database
    const alice = await test.makeUser('alice')
    await alice.api.publishSkill({ skillMd: skillMd('shared') })
    const { token } = await alice.api.createShare({ name: 'alice/shared', expiresInDays: 30 })
    await rotateKey(partsOf(test.registry), { overlapMs: 30 * dayMs })
    const { id } = await read.selectFrom('skills').select('id').executeTakeFirstOrThrow()
    const day = Math.floor(test.clock.now() / dayMs)
    await writer.write((trx) => trx.insertInto('download_days').values({ skill_id: id, day, downloads: 3 }).execute())
    const count = async () => ({
      shares: (await read.selectFrom('shares').select('id').execute()).length,
      days: (await read.selectFrom('download_days').select('day').execute()).length,
      keys: (await read.selectFrom('signing_keys').select('private_key').execute()).filter((row) => row.private_key)
        .length,
      changes: (await read.selectFrom('changes').select('seq').execute()).length > 0,
    })
    const all = { shares: 1, days: 1, keys: 2, changes: true }
    expect(await count()).toEqual(all)
    const startedAt = test.clock.now()
    await keepHouse(test, decadeMs)
    expect(await count()).toEqual(all)
    test.clock.set(startedAt + minuteMs)
    await expect.poll(() => dueInMs(test, housekeeping), { timeout: 10_000 }).toEqual([hourMs])
    expect(await test.apiWith({ shareToken: token }).getSkill({ name: 'alice/shared' })).toMatchObject({
      name: 'shared',
    })
    await keepHouse(test, hourMs)
    await keepHouse(test, hourMs)
    expect(await count(), 'nothing has expired').toEqual(all)
    await keepHouse(test, decadeMs)
    expect((await count()).shares).toBe(1)
    test.clock.advance(hourMs)
    await expect.poll(count, { timeout: 10_000 }).toEqual({ shares: 0, days: 0, keys: 1, changes: false })
  })

  it('back makes jobs and retries wait no longer than their delay', async () => {
    const test = await open()
    const startedAt = test.clock.now()
    const started = await failOnceAt(test, startedAt + decadeMs)
    await jobs.enqueue(test, { payload: { n: 2 }, dueAt: test.clock.now() + hourMs })
    test.clock.set(startedAt)
    await expect.poll(() => dueInMs(test), { timeout: 10_000 }).toEqual([5 * minuteMs, hourMs])
    test.clock.advance(5 * minuteMs)
    await expect.poll(() => started.length).toBe(2)
  })

  it('back does not block jobs of a process that was killed before, and a starting node corrects their times', async () => {
    const test = await open()
    const { read, writer } = partsOf(test.registry).database
    await jobs.enqueue(test, { payload: { n: 1 } })
    const later = test.clock.now() + decadeMs
    await writer.write((trx) =>
      trx
        .updateTable('outbox')
        .set({ lease: 'killed', due_at: later, claimable_at: later + leaseMs })
        .where('topic', '=', 'job')
        .execute(),
    )
    const again = await open({ at: test.location, clock: createClock(test.clock.now()) })
    await expect
      .poll(
        async () => (await read.selectFrom('outbox').select('claimable_at').where('topic', '=', 'job').execute())[0],
        {
          timeout: 10_000,
        },
      )
      .toEqual({ claimable_at: test.clock.now() + leaseMs })
    let runs = 0
    partsOf(again.registry).outbox.handle('job', { retryDelaysMs: [], handle: async () => void (runs += 1) })
    again.clock.advance(leaseMs)
    await expect.poll(() => runs).toBe(1)
  })

  it('back makes jobs wait no longer than their delay if their handler is registered afterwards', async () => {
    const test = await open()
    const handler = { retryDelaysMs: [], handle: async () => undefined }
    const others = outboxOf('other')
    partsOf(test.registry).outbox.handle('other', handler)
    const startedAt = test.clock.now()
    test.clock.set(startedAt + decadeMs)
    const job = { payload: {}, dueAt: test.clock.now() + hourMs }
    await jobs.enqueue(test, job)
    await others.enqueue(test, job, { payload: {} })
    await expect.poll(() => others.countDone(test)).toBe(1)
    test.clock.set(startedAt)
    await expect.poll(() => dueInMs(test, others), { timeout: 10_000 }).toEqual([hourMs])
    partsOf(test.registry).outbox.handle('job', handler)
    await expect.poll(() => dueInMs(test), { timeout: 10_000 }).toEqual([hourMs])
  })

  it('back during a recurring job does not delay the next run', async () => {
    const test = await open()
    const { outbox } = partsOf(test.registry)
    const startedAt = test.clock.now()
    outbox.handle('job', {
      retryDelaysMs: [],
      handle: async () => test.clock.set(startedAt),
      afterwards: (trx, [ended]) =>
        outbox.enqueue(trx, { topic: 'job', payload: {}, uniqueKey: 'job', dueAt: ended!.startedAt + dayMs }),
    })
    test.clock.set(startedAt + decadeMs)
    await jobs.enqueue(test, { payload: {}, uniqueKey: 'job' })
    await expect.poll(() => jobs.countDone(test)).toBe(1)
    expect(await dueInMs(test)).toEqual([dayMs])
  })

  // On SQLite all processes have the same clock.
  it.skipIf(dialect === 'SQLite')('back on one node keeps leases, retries and delays of other nodes', async () => {
    const test = await open({ clock: createClock(Date.now()) })
    const { outbox, database } = partsOf(test.registry)
    const running = outboxOf('running')
    const future = outboxOf('future')
    const ended = Promise.withResolvers<void>()
    outbox.handle('running', { retryDelaysMs: [], handle: () => ended.promise })
    await running.enqueue(test, { payload: {} })
    await failOnceAt(test, test.clock.now())
    await jobs.enqueue(test, { payload: { n: 2 }, dueAt: test.clock.now() + hourMs })
    await future.enqueue(test, { payload: {} })
    const later = test.clock.now() + decadeMs
    await database.writer.write((trx) =>
      trx
        .updateTable('outbox')
        .set({ created_at: later, due_at: later, claimable_at: later })
        .where('topic', '=', 'future')
        .execute(),
    )
    await expect.poll(async () => (await running.rowsOf(test))[0]?.lease).not.toBeNull()
    const read = async () => [await running.rowsOf(test), await jobs.rowsOf(test)]
    const before = await read()

    const behind = await open({ at: test.location, clock: createClock(test.clock.now() - dayMs) })
    let runs = 0
    for (const topic of ['running', 'job', 'future'])
      partsOf(behind.registry).outbox.handle(topic, {
        retryDelaysMs: [minuteMs, 5 * minuteMs],
        handle: async () => void (runs += 1),
      })
    await expect.poll(async () => (await future.rowsOf(test))[0]?.created_at, { timeout: 10_000 }).not.toBe(later)
    expect(await read()).toEqual(before)
    ended.resolve()
    await expect.poll(() => running.countDone(test)).toBe(1)
    expect((await future.rowsOf(test))[0]!.state).toBe('done')
    expect(runs).toBe(1)
  })

  it('back does not move the times of jobs with deadlines', async () => {
    const test = await open()
    const withDeadlines = outboxOf('with-deadlines')
    const handler = { retryDelaysMs: [], hasDeadlines: true, handle: async () => undefined }
    partsOf(test.registry).outbox.handle('with-deadlines', handler)
    const startedAt = test.clock.now()
    await failOnceAt(test, startedAt + decadeMs)
    await withDeadlines.enqueue(test, { payload: {}, dueAt: test.clock.now() + hourMs })
    test.clock.set(startedAt)
    await expect.poll(() => dueInMs(test), { timeout: 10_000 }).toEqual([5 * minuteMs])
    expect(await dueInMs(test, withDeadlines)).toEqual([decadeMs + hourMs])
  })

  it('back does not prevent later updates of the time of last use of keys', async () => {
    const test = await open()
    const alice = await test.makeUser('alice')
    const { key, id } = await alice.api.createApiKey({ name: 'ci' })
    const read = async () => (await alice.api.listApiKeys()).apiKeys.find((row) => row.id === id)!.lastUsedAt
    const startedAt = test.clock.now()
    test.clock.advance(decadeMs)
    await test.apiWithKey(key).getMe()
    await expect.poll(read).toBe(new Date(startedAt + decadeMs).toISOString())
    test.clock.set(startedAt)
    await test.apiWithKey(key).getMe()
    await expect.poll(read).toBe(new Date(startedAt).toISOString())
  })
})
