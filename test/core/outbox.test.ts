import { setTimeout } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { type OutboxJob, partsOf } from '@skillstead/core/internal'
import { describeDatabases, type TestRegistry } from '../support/harness.ts'

const minuteMs = 60_000

/** A promise to wait for, and a function that resolves it. */
function createGate() {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { open: resolve, opened: promise }
}

// Workers poll once a second; a commit makes them poll at once.
const wake = ({ registry }: TestRegistry) => partsOf(registry).database.writer.write(async () => {})
const enqueue = ({ registry }: TestRegistry, job: OutboxJob) =>
  partsOf(registry).database.writer.write((trx) => partsOf(registry).outbox.enqueue(trx, job))
const rowsOf = (test: TestRegistry, topic: string) =>
  partsOf(test.registry)
    .database.read.selectFrom('outbox')
    .selectAll()
    .where('topic', '=', topic)
    .orderBy('created_at')
    .execute()
const stateOf = async (test: TestRegistry, topic: string) => (await rowsOf(test, topic)).map(({ state }) => state)

describeDatabases('the outbox', (open) => {
  describe('of one registry', () => {
    let test: TestRegistry
    beforeAll(async () => {
      test = await open()
    })

    it('runs a row with its payload after the row’s transaction has committed', async () => {
      const seen: unknown[] = []
      partsOf(test.registry).outbox.handle('plain', {
        retryDelaysMs: [],
        handle: async (payload, attempt) => void seen.push({ payload, attempt }),
      })
      await enqueue(test, { topic: 'plain', payload: { n: 1 } })
      await expect.poll(() => stateOf(test, 'plain')).toEqual(['done'])
      expect(seen).toEqual([{ payload: { n: 1 }, attempt: 1 }])
    })

    it('runs no row of a transaction that was rolled back', async () => {
      const seen: unknown[] = []
      const { outbox, database } = partsOf(test.registry)
      outbox.handle('undone', { retryDelaysMs: [], handle: async () => void seen.push('ran') })
      const write = database.writer.write(async (trx) => {
        await outbox.enqueue(trx, { topic: 'undone', payload: {} })
        throw new Error('Changed my mind.')
      })
      await expect(write).rejects.toThrow('Changed my mind.')
      await wake(test)
      await enqueue(test, { topic: 'plain', payload: { n: 2 } })
      await expect.poll(() => stateOf(test, 'plain')).toEqual(['done', 'done'])
      expect({ rows: await rowsOf(test, 'undone'), seen }).toEqual({ rows: [], seen: [] })
    })

    it('accepts either all or none of hundreds of jobs in one call, without blocking the event loop', async () => {
      const { outbox, database } = partsOf(test.registry)
      const jobs = Array.from({ length: 600 }, (_, n) => ({
        topic: 'many',
        partition: `partition-${n % 7}`,
        payload: { n },
      }))
      const write = database.writer.write(async (trx) => {
        await outbox.enqueue(trx, ...jobs)
        throw new Error('Changed my mind.')
      })
      await expect(write).rejects.toThrow('Changed my mind.')
      expect(await rowsOf(test, 'many')).toEqual([])
      let turns = 0
      await database.writer.write(async (trx) => {
        const count = () => void ((turns += 1), (counting = setImmediate(count)))
        let counting = setImmediate(count)
        await outbox.enqueue(trx, ...jobs)
        clearImmediate(counting)
      })
      expect(turns).toBeGreaterThanOrEqual(2)
      const numbers = (await rowsOf(test, 'many')).map(({ payload }) => (JSON.parse(payload) as { n: number }).n)
      expect(numbers.toSorted((a, b) => a - b)).toEqual(jobs.map(({ payload }) => payload.n))
    })

    it('runs a row only when the clock reaches its due time', async () => {
      const seen: unknown[] = []
      partsOf(test.registry).outbox.handle('later', { retryDelaysMs: [], handle: async () => void seen.push('ran') })
      await enqueue(test, { topic: 'later', payload: {}, dueAt: test.clock.now() + minuteMs })
      await enqueue(test, { topic: 'plain', payload: {} })
      await expect.poll(async () => (await stateOf(test, 'plain')).every((state) => state === 'done')).toBe(true)
      expect(seen).toEqual([])
      test.clock.advance(minuteMs)
      await wake(test)
      await expect.poll(() => seen).toEqual(['ran'])
    })

    it('retries a failed row after each delay, and stores the reason when the last retry fails', async () => {
      const attempts: number[] = []
      partsOf(test.registry).outbox.handle('failing', {
        retryDelaysMs: [minuteMs, 5 * minuteMs],
        async handle(_payload, attempt) {
          attempts.push(attempt)
          throw new Error(`Attempt ${attempt} failed.`)
        },
      })
      const begun = test.clock.now()
      await enqueue(test, { topic: 'failing', payload: {} })
      for (const [attempt, dueAt] of [
        [1, begun + minuteMs],
        [2, begun + 6 * minuteMs],
      ] as const) {
        await expect.poll(async () => (await rowsOf(test, 'failing'))[0]!.due_at).toBe(dueAt)
        const [row] = await rowsOf(test, 'failing')
        expect(row).toMatchObject({
          state: 'pending',
          attempts: attempt,
          lease: null,
        })
        expect(JSON.parse(row!.attempt_log).at(-1)).toMatchObject({
          number: attempt,
          at: attempt === 1 ? begun : begun + minuteMs,
          statusCode: null,
          error: `Attempt ${attempt} failed.`,
        })
        await wake(test)
        expect(attempts.length, 'not before it is due').toBe(attempt)
        test.clock.set(dueAt)
        await wake(test)
      }
      await expect.poll(() => stateOf(test, 'failing')).toEqual(['failed'])
      expect(attempts).toEqual([1, 2, 3])
      expect(await partsOf(test.registry).outbox.figures()).toMatchObject({ failed: 1 })
    })

    it('refuses a second row with the same unique key while the first row is pending', async () => {
      const job = { topic: 'unique', payload: {}, uniqueKey: 'only-one' }
      await enqueue(test, job)
      await enqueue(test, job)
      expect(await stateOf(test, 'unique')).toEqual(['pending'])
      const seen: unknown[] = []
      partsOf(test.registry).outbox.handle('unique', { retryDelaysMs: [], handle: async () => void seen.push('ran') })
      await wake(test)
      await expect.poll(() => stateOf(test, 'unique')).toEqual(['done'])
      await enqueue(test, job)
      await expect.poll(() => stateOf(test, 'unique')).toEqual(['done', 'done'])
      expect(seen).toEqual(['ran', 'ran'])
    })

    it('ignores rows without a handler in this process', async () => {
      await enqueue(test, { topic: 'of-another-program', payload: {} })
      await enqueue(test, { topic: 'plain', payload: {} })
      await expect.poll(async () => (await stateOf(test, 'plain')).every((state) => state === 'done')).toBe(true)
      expect(await rowsOf(test, 'of-another-program')).toMatchObject([{ state: 'pending', attempts: 0 }])
    })

    it('enqueues the next run of a recurring job in the transaction that completes the current run', async () => {
      const seen: number[] = []
      const { outbox } = partsOf(test.registry)
      const round = () => ({ topic: 'round', payload: {}, uniqueKey: 'round', dueAt: test.clock.now() + minuteMs })
      outbox.handle('round', {
        retryDelaysMs: [],
        handle: async () => void seen.push(test.clock.now()),
        afterwards: (trx) => outbox.enqueue(trx, round()),
      })
      await enqueue(test, round())
      for (const times of [1, 2]) {
        test.clock.advance(minuteMs)
        await wake(test)
        await expect
          .poll(async () => (await stateOf(test, 'round')).filter((state) => state === 'done').length)
          .toBe(times)
      }
      expect((await stateOf(test, 'round')).filter((state) => state === 'pending')).toHaveLength(1)
      expect(seen).toHaveLength(2)
    })

    it('records the time when an attempt started, even if the clock jumps during the attempt', async () => {
      const began = test.clock.now()
      const told: number[] = []
      partsOf(test.registry).outbox.handle('leapt', {
        retryDelaysMs: [],
        handle: async () => test.clock.advance(minuteMs),
        afterwards: async (_trx, ended) => void told.push(...ended.map(({ startedAt }) => startedAt)),
      })
      await enqueue(test, { topic: 'leapt', payload: {} })
      await expect.poll(() => told).toEqual([began])
    })
  })

  it('of two registries on one database runs no row twice', async () => {
    const first = await open()
    const second = await open({ at: first.location, clock: first.clock })
    const seen: number[] = []
    for (const { registry } of [first, second]) {
      partsOf(registry).outbox.handle('shared', {
        retryDelaysMs: [],
        async handle({ n }) {
          await setTimeout(2)
          seen.push(n as number)
        },
      })
    }
    const numbers = Array.from({ length: 60 }, (_, n) => n)
    await Promise.all(numbers.map((n) => enqueue(n % 2 ? first : second, { topic: 'shared', payload: { n } })))
    await expect.poll(() => seen.length).toBeGreaterThanOrEqual(60)
    await expect.poll(async () => (await stateOf(first, 'shared')).filter((state) => state === 'done').length).toBe(60)
    expect(seen.toSorted((a, b) => a - b)).toEqual(numbers)
    expect((await rowsOf(first, 'shared')).map(({ attempts }) => attempts)).toEqual(numbers.map(() => 1))
  })

  it('stops cleanly: running jobs complete and are recorded, and no new job starts', async () => {
    const test = await open()
    const gate = createGate()
    const seen: string[] = []
    partsOf(test.registry).outbox.handle('slow', {
      retryDelaysMs: [],
      async handle({ n }) {
        seen.push(`began ${String(n)}`)
        await gate.opened
        seen.push(`ended ${String(n)}`)
      },
    })
    await enqueue(test, { topic: 'slow', payload: { n: 1 } })
    await expect.poll(() => seen).toEqual(['began 1'])
    const stopped = partsOf(test.registry).outbox.stop()
    await enqueue(test, { topic: 'slow', payload: { n: 2 } })
    gate.open()
    await stopped
    expect(seen).toEqual(['began 1', 'ended 1'])
    expect((await stateOf(test, 'slow')).toSorted()).toEqual(['done', 'pending'])
    const rows = await rowsOf(test, 'slow')
    expect(rows.map(({ lease }) => lease)).toEqual([null, null])
  })

  it('still completes the rows that it was claiming when it was stopped', async () => {
    const test = await open()
    let running = 0
    partsOf(test.registry).outbox.handle('claimed', {
      retryDelaysMs: [],
      async handle() {
        running += 1
        await setTimeout(5)
        running -= 1
      },
    })
    await enqueue(test, { topic: 'claimed', payload: {} })
    // Not awaited: the claim is in progress from here to the end.
    await partsOf(test.registry).outbox.stop()
    expect(running).toBe(0)
    const [row] = await rowsOf(test, 'claimed')
    expect(row!.lease).toBeNull()
    await setTimeout(50)
    expect(await rowsOf(test, 'claimed')).toEqual([row])
  })

  it('of a registry without a worker runs no rows', async () => {
    const test = await open({ works: false })
    const seen: unknown[] = []
    partsOf(test.registry).outbox.handle('idle', { retryDelaysMs: [], handle: async () => void seen.push('ran') })
    await enqueue(test, { topic: 'idle', payload: {} })
    await setTimeout(50)
    expect({ seen, states: await stateOf(test, 'idle') }).toEqual({ seen: [], states: ['pending'] })
  })
})
