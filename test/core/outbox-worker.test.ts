import { setTimeout } from 'node:timers/promises'
import { partsOf } from '@skillstead/core/internal'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { RegistryError } from '@skillstead/protocol'
import { describeDatabases, type TestRegistry } from '../support/harness.ts'
import { enqueue, letLook } from '../support/outbox-acts.ts'

const minuteMs = 60_000
const farAwayMs = 60 * 24 * 60 * minuteMs

/** The outbox queries from here on. */
function watchReads({ registry }: TestRegistry): string[] {
  const asked: string[] = []
  const executor = partsOf(registry).database.read.getExecutor()
  const execute = executor.executeQuery.bind(executor)
  vi.spyOn(executor, 'executeQuery').mockImplementation((query) => {
    if (query.sql.includes('outbox')) asked.push(query.sql)
    return execute(query)
  })
  return asked
}

/** Runs a callback before each outbox query, which waits for it. */
function onOutboxRead({ registry }: TestRegistry, before: () => Promise<void> | void) {
  const executor = partsOf(registry).database.read.getExecutor()
  const execute = executor.executeQuery.bind(executor)
  return vi.spyOn(executor, 'executeQuery').mockImplementation(async (query) => {
    if (query.sql.includes('outbox')) await before()
    return execute(query)
  })
}

const poll = () => vi.advanceTimersByTime(1000)

afterEach(() => vi.useRealTimers())

describeDatabases('the worker of the outbox', (open) => {
  it('wakes exactly when a row is due, without needing a commit or a poll', async () => {
    // Only its timers can wake it.
    vi.useFakeTimers({ toFake: ['setInterval'] })
    const test = await open()
    const begun: number[] = []
    partsOf(test.registry).outbox.handle('timed', {
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

  it('finds rows that another process stored, both due rows and rows that are due later', async () => {
    const works = await open()
    const writes = await open({ at: works.location, clock: works.clock, works: false })
    const begun: number[] = []
    partsOf(works.registry).outbox.handle('shared', {
      retryDelaysMs: [],
      handle: async ({ n }) => void begun.push(n as number),
    })
    await letLook()
    await enqueue(
      writes,
      { topic: 'shared', payload: { n: 1 } },
      { topic: 'shared', payload: { n: 2 }, dueAt: works.clock.now() + minuteMs },
    )
    await expect.poll(() => begun).toEqual([1])
    works.clock.advance(minuteMs)
    await expect.poll(() => begun).toEqual([1, 2])
  })

  /** Two processes on one database: rows of the second reach the handler of the first only by polling. */
  async function openPair(options: { onError?: (error: unknown) => void } = {}) {
    vi.useFakeTimers({ toFake: ['setInterval'] })
    const works = await open(options)
    const writes = await open({ at: works.location, clock: works.clock, works: false })
    const begun: number[] = []
    partsOf(works.registry).outbox.handle('shared', {
      retryDelaysMs: [],
      handle: async ({ n }) => void begun.push(n as number),
    })
    await letLook()
    return { works, writes, begun }
  }

  describe('with polls that a test triggers', () => {
    it('polls once more if another query for due rows was running during a poll', async () => {
      const { works, writes, begun } = await openPair()
      const gate = Promise.withResolvers<void>()
      const reached = Promise.withResolvers<void>()
      onOutboxRead(works, () => {
        reached.resolve()
        return gate.promise
      })
      await enqueue(works, { topic: 'shared', payload: { n: 1 } })
      await reached.promise
      poll()
      gate.resolve()
      await expect.poll(() => begun).toEqual([1])
      await letLook()
      await enqueue(writes, { topic: 'shared', payload: { n: 2 } })
      poll()
      await expect.poll(() => begun).toEqual([1, 2])
    })

    it('polls again after polls that failed', async () => {
      const errors: unknown[] = []
      const { works, writes, begun } = await openPair({ onError: (error) => void errors.push(error) })
      const fault = new Error('The database is unavailable.')
      const failing = onOutboxRead(works, () => {
        throw fault
      })
      for (const failed of [[fault], [fault, fault]]) {
        poll()
        await expect.poll(() => errors).toEqual(failed)
      }
      failing.mockRestore()
      await enqueue(writes, { topic: 'shared', payload: { n: 1 } })
      poll()
      await expect.poll(() => begun).toEqual([1])
    })

    it('polls again after the clock jumped forward or back', async () => {
      const { works, writes, begun } = await openPair()
      for (const [n, leapMs] of [farAwayMs, -2 * farAwayMs, farAwayMs].entries()) {
        works.clock.advance(leapMs)
        await letLook()
        await enqueue(writes, { topic: 'shared', payload: { n } })
        // A poll passes while a query for due rows is running.
        await expect.poll(() => (poll(), begun.at(-1))).toBe(n)
      }
    })
  })

  it('queries the database once a second and writes nothing while idle', async () => {
    const test = await open()
    const { database } = partsOf(test.registry)
    await enqueue(test, { topic: 'without-handler-here', payload: {} })
    await letLook()
    const asked = watchReads(test)
    let commits = 0
    database.writer.onCommit(() => void (commits += 1))
    await expect.poll(() => asked.length).toBe(2)
    await setTimeout(500)
    expect(asked.length).toBeLessThanOrEqual(3)
    expect(new Set(asked).size).toBe(1)
    expect(commits).toBe(0)
  })

  it('checks no queues while no row is due, even if it is woken often', async () => {
    const test = await open()
    partsOf(test.registry).outbox.handle('later', { retryDelaysMs: [], async handle() {} })
    await letLook()
    const asked = watchReads(test)
    const dueAt = test.clock.now() + minuteMs
    for (let n = 0; n < 5; n++) {
      await enqueue(test, { topic: 'later', partition: `partition-${n}`, payload: {}, dueAt })
      await letLook()
    }
    expect(asked.length).toBeGreaterThanOrEqual(5)
    expect(asked.filter((text) => text.includes('partitions'))).toEqual([])
    test.clock.advance(minuteMs)
    await expect.poll(async () => (await partsOf(test.registry).outbox.list('partition-4', 1))[0]!.state).toBe('done')
  })

  it("counts an error about another node's shutdown as a failure of the job", async () => {
    const test = await open()
    let begun = 0
    partsOf(test.registry).outbox.handle('elsewhere', {
      retryDelaysMs: [minuteMs],
      async handle() {
        begun += 1
        throw new RegistryError('shutting_down', 'The other node is shutting down.')
      },
    })
    await enqueue(test, { topic: 'elsewhere', payload: {} })
    await expect
      .poll(async () => (await partsOf(test.registry).outbox.list('elsewhere', 1))[0]!.attempts.length)
      .toBe(1)
    await setTimeout(1200)
    expect(begun, 'not before its time').toBe(1)
    test.clock.advance(minuteMs)
    await expect.poll(async () => (await partsOf(test.registry).outbox.list('elsewhere', 1))[0]!.state).toBe('failed')
  })
})
