import { setTimeout } from 'node:timers/promises'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { AttemptError, type Attempt } from '../packages/core/src/outbox/outbox.ts'
import type { OutboxJob } from '@skillstead/core'
import { describeDatabases, type TestRegistry } from './harness.ts'

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
const farAwayMs = 60 * dayMs

const enqueue = ({ registry }: TestRegistry, ...jobs: OutboxJob[]) =>
  registry.database.writer.write((trx) => registry.outbox.enqueue(trx, ...jobs))
const retry = ({ registry }: TestRegistry, lane: string, id: string) =>
  registry.database.writer.write((trx) => registry.outbox.retry(trx, lane, id))
const newest = async ({ registry }: TestRegistry, lane: string) => (await registry.outbox.list(lane, 1))[0]!
const stateOf = async (test: TestRegistry, lane: string) => (await newest(test, lane)).state
const rowOf = ({ registry }: TestRegistry, id: string) =>
  registry.database.read.selectFrom('outbox').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
/** Longer than a look takes; what has not happened after it does not. */
const letLook = () => setTimeout(60)

afterEach(() => vi.useRealTimers())

describeDatabases('the rows of the outbox', (open) => {
  describe('record their attempts', () => {
    let test: TestRegistry
    beforeAll(async () => {
      test = await open()
    })

    it('with number, time, status, duration and error', async () => {
      let left = 2
      test.registry.outbox.handle('recorded', {
        retryDelaysMs: [minuteMs, minuteMs],
        async handle() {
          await setTimeout(20)
          if (left-- > 0) throw new AttemptError('The receiver answered with 500.', { statusCode: 500 })
          return { statusCode: 204 }
        },
      })
      const begun = test.clock.now()
      await enqueue(test, { topic: 'recorded', payload: { n: 1 } })
      for (const count of [1, 2]) {
        await expect.poll(async () => (await newest(test, 'recorded')).attempts.length).toBe(count)
        test.clock.advance(minuteMs)
      }
      await expect.poll(() => stateOf(test, 'recorded')).toBe('done')
      const { attempts, payload } = await newest(test, 'recorded')
      const failed = { statusCode: 500, error: 'The receiver answered with 500.' }
      expect(payload).toEqual({ n: 1 })
      expect(attempts.map(({ number, at, statusCode, error }) => ({ number, at, statusCode, error }))).toEqual([
        { number: 1, at: begun, ...failed },
        { number: 2, at: begun + minuteMs, ...failed },
        { number: 3, at: begun + 2 * minuteMs, statusCode: 204, error: null },
      ])
      for (const { durationMs } of attempts) {
        expect(Number.isInteger(durationMs)).toBe(true)
        expect(durationMs).toBeGreaterThanOrEqual(19)
      }
      expect(await test.registry.outbox.figures()).toMatchObject({ attempts: 3, failures: 2 })
    })

    it('the newest twenty, each with as much of the error as is of use', async () => {
      test.registry.outbox.handle('endless', {
        retryDelaysMs: Array.from({ length: 24 }, () => minuteMs),
        handle: () => Promise.reject(new Error('x'.repeat(5000))),
      })
      await enqueue(test, { topic: 'endless', payload: {} })
      const numberOf = async () => (await newest(test, 'endless')).attempts.at(-1)?.number
      for (let number = 1; number <= 25; number++) {
        await expect.poll(numberOf).toBe(number)
        test.clock.advance(minuteMs)
      }
      const { state, attempts } = await newest(test, 'endless')
      expect({ state, numbers: attempts.map(({ number }) => number) }).toEqual({
        state: 'failed',
        numbers: Array.from({ length: 20 }, (_, n) => n + 6),
      })
      expect(attempts[0]!.error).toHaveLength(2000)
    })

    it('of which the last is the one that says so, or that throws nothing at all', async () => {
      test.registry.outbox.handle('final', {
        retryDelaysMs: [minuteMs, minuteMs],
        handle: () => Promise.reject(new AttemptError('The receiver is gone.', { isFinal: true })),
      })
      test.registry.outbox.handle('nothing', {
        retryDelaysMs: [],
        // oxlint-disable-next-line prefer-promise-reject-errors -- what a careless handler may do
        handle: () => Promise.reject(),
      })
      await enqueue(test, { topic: 'final', payload: {} }, { topic: 'nothing', payload: {} })
      await expect.poll(() => stateOf(test, 'final')).toBe('failed')
      expect((await newest(test, 'final')).attempts).toMatchObject([{ number: 1, error: 'The receiver is gone.' }])
      await expect.poll(() => stateOf(test, 'nothing')).toBe('failed')
    })
  })

  describe('can be done again', () => {
    let test: TestRegistry
    let outcome: 'fails' | 'hangs' | 'ends' = 'fails'
    let goOn: (() => void) | undefined
    const begun: Attempt['number'][] = []
    beforeAll(async () => {
      test = await open()
      test.registry.outbox.handle('again', {
        retryDelaysMs: [minuteMs],
        async handle(_payload, attempt) {
          begun.push(attempt)
          if (outcome === 'fails') throw new Error('No.')
          if (outcome === 'hangs') await new Promise<void>((resolve) => (goOn = resolve))
        },
      })
      await enqueue(test, { topic: 'again', lane: 'mine', payload: {} })
    })

    it('at once where they wait, and then wait no longer', async () => {
      await expect.poll(async () => (await newest(test, 'mine')).attempts.length).toBe(1)
      const { id, dueAt } = await newest(test, 'mine')
      expect(dueAt).toBe(test.clock.now() + minuteMs)
      expect(await retry(test, 'mine', id)).toMatchObject({ state: 'pending', dueAt: test.clock.now() })
      await expect.poll(() => stateOf(test, 'mine')).toBe('failed')
      expect(begun).toEqual([1, 2])
      test.clock.advance(2 * minuteMs)
      await letLook()
      expect(begun, 'the attempt that was planned is not made as well').toEqual([1, 2])
    })

    it('but not by whom they do not belong to', async () => {
      const { id } = await newest(test, 'mine')
      expect(await retry(test, 'of-somebody-else', id)).toBeUndefined()
      expect(await retry(test, 'mine', 'no-such-row')).toBeUndefined()
      await letLook()
      expect(begun).toEqual([1, 2])
    })

    it('once more where they failed; while that runs, asking again adds nothing', async () => {
      outcome = 'hangs'
      const { id } = await newest(test, 'mine')
      expect(await retry(test, 'mine', id)).toMatchObject({ state: 'pending' })
      await expect.poll(() => begun).toEqual([1, 2, 3])
      const running = await rowOf(test, id)
      expect(await retry(test, 'mine', id)).toMatchObject({ state: 'pending' })
      expect(await rowOf(test, id)).toEqual(running)
      outcome = 'ends'
      goOn!()
      await expect.poll(() => stateOf(test, 'mine')).toBe('done')
      expect(begun).toEqual([1, 2, 3])
      expect((await newest(test, 'mine')).attempts.map(({ number }) => number)).toEqual([1, 2, 3])
    })

    it('but not where they are done', async () => {
      const { id } = await newest(test, 'mine')
      const done = await rowOf(test, id)
      expect(await retry(test, 'mine', id)).toMatchObject({ state: 'done' })
      await letLook()
      expect(await rowOf(test, id)).toEqual(done)
      expect(begun).toEqual([1, 2, 3])
    })
  })

  it('that wait go to another host, and those that ended keep theirs', async () => {
    const test = await open()
    test.registry.outbox.handle('sent', { retryDelaysMs: [], async handle() {} })
    const job = { topic: 'sent', lane: 'moves', host: 'old.test', payload: {} }
    await enqueue(test, job)
    await expect.poll(() => stateOf(test, 'moves')).toBe('done')
    const later = { dueAt: test.clock.now() + minuteMs }
    await enqueue(test, { ...job, ...later }, { ...job, ...later, lane: 'stays' })
    await test.registry.database.writer.write((trx) => test.registry.outbox.redirect(trx, 'moves', 'new.test'))
    const rows = await test.registry.database.read
      .selectFrom('outbox')
      .select(['lane', 'state', 'host'])
      .where('topic', '=', 'sent')
      .orderBy('lane')
      .orderBy('state')
      .execute()
    expect(rows).toEqual([
      { lane: 'moves', state: 'done', host: 'old.test' },
      { lane: 'moves', state: 'pending', host: 'new.test' },
      { lane: 'stays', state: 'pending', host: 'old.test' },
    ])
  })

  it('are swept some time after they ended, in strides, and never while they wait', async () => {
    const test = await open()
    const { outbox, database } = test.registry
    outbox.handle('ended', {
      retryDelaysMs: [],
      async handle({ fails }) {
        if (fails) throw new Error('No.')
      },
    })
    await enqueue(test, { topic: 'unknown', lane: 'waits', payload: {} })
    const old = Array.from({ length: 2300 }, (_, n) => ({ topic: 'ended', lane: `lane-${n % 40}`, payload: {} }))
    await enqueue(test, ...old, { topic: 'ended', lane: 'failed', payload: { fails: true } })
    const count = async (state: 'done' | 'failed' | 'pending') =>
      (await database.read.selectFrom('outbox').select('id').where('state', '=', state).execute()).length
    await expect.poll(() => count('done'), { timeout: 30_000 }).toBe(2300)
    const endedAt = test.clock.now()
    await outbox.sweep({ done: endedAt, failed: endedAt })
    expect([await count('done'), await count('failed')], 'not yet').toEqual([2300, 1])
    let commits = 0
    database.writer.onCommit(() => void (commits += 1))
    await outbox.sweep({ done: endedAt + 1, failed: endedAt })
    expect([await count('done'), await count('failed')]).toEqual([0, 1])
    expect(commits).toBeGreaterThanOrEqual(3)
    await outbox.sweep({ done: endedAt + 1, failed: endedAt + 1 })
    expect([await count('failed'), await stateOf(test, 'waits')]).toEqual([0, 'pending'])
  })

  it('count from when they ended, however long they waited to be done', async () => {
    const test = await open({ works: false })
    await enqueue(test, { topic: 'waited', payload: {} })
    test.clock.advance(farAwayMs)
    test.registry.outbox.handle('waited', { retryDelaysMs: [], async handle() {} })
    test.registry.outbox.start()
    await expect.poll(() => stateOf(test, 'waited')).toBe('done')
    const weekAgo = test.clock.now() - 7 * dayMs
    await test.registry.outbox.sweep({ done: weekAgo, failed: weekAgo })
    expect(await stateOf(test, 'waited')).toBe('done')
  })

  it('are figures to an operator: how many wait, how many failed, and for how long the oldest has waited', async () => {
    const test = await open({ works: false })
    const { outbox } = test.registry
    expect(await outbox.figures()).toEqual({ pending: 0, failed: 0, oldestDueAt: null, attempts: 0, failures: 0 })
    const now = test.clock.now()
    await enqueue(test, { topic: 'a', payload: {}, dueAt: now + minuteMs }, { topic: 'a', payload: {}, dueAt: now - 5 })
    expect(await outbox.figures()).toEqual({ pending: 2, failed: 0, oldestDueAt: now - 5, attempts: 0, failures: 0 })
    outbox.handle('a', { retryDelaysMs: [], handle: () => Promise.reject(new Error('No.')) })
    outbox.start()
    await expect.poll(async () => (await outbox.figures()).failed).toBe(1)
    expect(await outbox.figures()).toEqual({
      pending: 1,
      failed: 1,
      oldestDueAt: now + minuteMs,
      attempts: 1,
      failures: 1,
    })
  })
})

describeDatabases('the worker of the outbox', (open) => {
  it('wakes when a row is due, and not a millisecond before, without a commit and without a poll', async () => {
    // Nothing but its timers can wake it.
    vi.useFakeTimers({ toFake: ['setInterval'] })
    const test = await open()
    const begun: number[] = []
    test.registry.outbox.handle('timed', {
      retryDelaysMs: [minuteMs],
      async handle({ n }) {
        begun.push(n as number)
        if (begun.length === 1) throw new Error('Once more.')
      },
    })
    const now = test.clock.now()
    await enqueue(
      test,
      { topic: 'timed', payload: { n: 2 }, dueAt: now + farAwayMs },
      { topic: 'timed', payload: { n: 1 }, dueAt: now + 5 * minuteMs },
    )
    await letLook()
    for (const [dueAt, expected] of [
      [now + 5 * minuteMs, [1]],
      [now + 6 * minuteMs, [1, 1]],
      [now + farAwayMs, [1, 1, 2]],
    ] as const) {
      test.clock.set(dueAt - 1)
      await letLook()
      expect(begun).toEqual(expected.slice(0, -1))
      test.clock.set(dueAt)
      await expect.poll(() => begun).toEqual(expected)
      await letLook()
    }
  })

  it('sees what another process wrote, for now and for later', async () => {
    const works = await open()
    const writes = await open({ at: works.location, clock: works.clock, works: false })
    const begun: number[] = []
    works.registry.outbox.handle('shared', { retryDelaysMs: [], handle: async ({ n }) => void begun.push(n as number) })
    await letLook()
    await enqueue(
      writes,
      { topic: 'shared', payload: { n: 1 } },
      { topic: 'shared', payload: { n: 2 }, dueAt: works.clock.now() + minuteMs },
    )
    await expect.poll(() => begun, { timeout: 5000 }).toEqual([1])
    works.clock.advance(minuteMs)
    await expect.poll(() => begun, { timeout: 5000 }).toEqual([1, 2])
  })

  it('asks the database once a second and writes nothing while there is nothing to do', async () => {
    const test = await open()
    const { database } = test.registry
    await enqueue(test, { topic: 'of-nobody-here', payload: {} })
    await letLook()
    const asked: string[] = []
    const executor = database.read.getExecutor()
    const execute = executor.executeQuery.bind(executor)
    vi.spyOn(executor, 'executeQuery').mockImplementation((query) => {
      if (query.sql.includes('outbox')) asked.push(query.sql)
      return execute(query)
    })
    let commits = 0
    database.writer.onCommit(() => void (commits += 1))
    await expect.poll(() => asked.length, { timeout: 10_000 }).toBe(2)
    await setTimeout(500)
    expect(asked.length).toBeLessThanOrEqual(3)
    expect(new Set(asked).size).toBe(1)
    expect(commits).toBe(0)
  })
})
