import { setTimeout } from 'node:timers/promises'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { RegistryError } from '@skillstead/protocol'
import type { OutboxJob } from '@skillstead/core'
import { createClock, describeDatabases, type Open, type TestRegistry } from './harness.ts'

const leaseMs = 60_000
const topic = 'leased'

const enqueue = ({ registry }: TestRegistry, ...jobs: Omit<OutboxJob, 'topic'>[]) =>
  registry.database.writer.write((trx) => registry.outbox.enqueue(trx, ...jobs.map((job) => ({ topic, ...job }))))
const makeJobs = (count: number) => Array.from({ length: count }, (_, n) => ({ payload: { n } }))
const rowsOf = ({ registry }: TestRegistry) =>
  registry.database.read.selectFrom('outbox').selectAll().where('topic', '=', topic).orderBy('id').execute()
const countDone = async (test: TestRegistry) => (await rowsOf(test)).filter(({ state }) => state === 'done').length
/** Longer than a look takes; what has not happened after it does not. */
const letLook = () => setTimeout(60)

/** A handler that notes what begins and goes on when it is told. */
function createHandler({ retryDelaysMs = [] as number[] } = {}) {
  const { promise: opened, resolve: open } = Promise.withResolvers<void>()
  const begun: number[] = []
  const ended: string[] = []
  return {
    begun,
    ended,
    open,
    handler: {
      retryDelaysMs,
      async handle({ n }: Record<string, unknown>) {
        begun.push(n as number)
        await opened
      },
      async afterwards(_trx: unknown, jobs: readonly { id: string }[]) {
        ended.push(...jobs.map(({ id }) => id))
      },
    },
  }
}

async function openTwo(open: Open, clocks = { second: undefined as ReturnType<typeof createClock> | undefined }) {
  const first = await open()
  const second = await open({ at: first.location, clock: clocks.second ?? first.clock })
  const [ofFirst, ofSecond] = [createHandler(), createHandler()]
  first.registry.outbox.handle(topic, ofFirst.handler)
  await enqueue(first, { payload: { n: 1 } })
  await expect.poll(() => ofFirst.begun).toEqual([1])
  second.registry.outbox.handle(topic, ofSecond.handler)
  return { first, second, ofFirst, ofSecond }
}

describeDatabases('the leases of the outbox', (open, dialect) => {
  it('are renewed while a handler runs, however long, so that no other process takes the row', async () => {
    const { first, second, ofFirst, ofSecond } = await openTwo(open)
    for (let step = 0; step < 6; step++) {
      first.clock.advance(leaseMs / 2)
      await expect.poll(async () => (await rowsOf(first))[0]!.claimable_at).toBe(first.clock.now() + leaseMs)
      await enqueue(second, { lane: 'other', payload: { n: 100 + step } })
      await expect.poll(() => [...ofFirst.begun, ...ofSecond.begun]).toContain(100 + step)
    }
    expect(ofSecond.begun).not.toContain(1)
    ofFirst.open()
    ofSecond.open()
    await expect.poll(() => countDone(first)).toBe(7)
    expect((await rowsOf(first)).map(({ attempts }) => attempts)).toEqual([1, 1, 1, 1, 1, 1, 1])
  })

  it('that were lost change nothing: the row is whose who has it now', async () => {
    const clock = createClock()
    const { first, second, ofFirst, ofSecond } = await openTwo(open, { second: clock })
    clock.advance(leaseMs)
    await expect.poll(() => ofSecond.begun).toEqual([1])
    const [taken] = await rowsOf(second)
    // The first renews, too late, and ends while the second is at it.
    first.clock.advance(leaseMs / 2)
    ofFirst.open()
    await letLook()
    expect(await rowsOf(second)).toEqual([taken])
    expect(ofFirst.ended, 'nobody is told twice').toEqual([])
    ofSecond.open()
    await expect.poll(() => countDone(second)).toBe(1)
    expect(ofSecond.ended).toEqual([taken!.id])
    expect((await rowsOf(second))[0]).toMatchObject({ attempts: 1, lease: null })
  })

  it('of this process that ran out while the computer slept are renewed, and the rows are not begun twice', async () => {
    const test = await open()
    const { begun, ended, handler, open: goOn } = createHandler()
    test.registry.outbox.handle(topic, handler)
    await enqueue(test, { payload: { n: 1 } })
    await expect.poll(() => begun).toEqual([1])
    test.clock.advance(10 * leaseMs)
    await enqueue(test, { payload: { n: 2 } })
    await expect.poll(() => begun).toEqual([1, 2])
    await letLook()
    expect(begun).toEqual([1, 2])
    goOn()
    await expect.poll(() => countDone(test)).toBe(2)
    expect(ended).toHaveLength(2)
    expect((await rowsOf(test)).map(({ attempts }) => attempts)).toEqual([1, 1])
  })

  it('of rows that were not begun are given back when a node stops, and what runs ends first', async () => {
    const test = await open()
    const { begun, ended, handler, open: goOn } = createHandler()
    test.registry.outbox.handle(topic, handler)
    await enqueue(test, ...makeJobs(30))
    await expect.poll(() => begun.length).toBe(8)
    expect(
      (await rowsOf(test)).every(({ lease }) => lease !== null),
      'all are claimed',
    ).toBe(true)
    const stopped = test.registry.outbox.stop()
    await expect.poll(async () => (await rowsOf(test)).filter(({ lease }) => lease === null).length).toBe(22)
    goOn()
    await stopped
    const rows = await rowsOf(test)
    const left = rows.filter(({ state }) => state === 'pending')
    expect(left).toHaveLength(22)
    for (const row of left) {
      expect(row).toMatchObject({ attempts: 0, attempt_log: '[]', lease: null, claimable_at: row.due_at })
    }
    expect({ begun: begun.length, ended: ended.length }).toEqual({ begun: 8, ended: 8 })
    test.registry.outbox.start()
    await expect.poll(() => countDone(test)).toBe(30)
  })

  it('end with the node: an attempt that its shutdown broke off counts as none', async () => {
    const test = await open()
    const { promise: closing, reject } = Promise.withResolvers<void>()
    let begun = 0
    test.registry.outbox.handle(topic, {
      retryDelaysMs: [1000],
      async handle() {
        begun += 1
        await closing
      },
    })
    await enqueue(test, { payload: {} })
    await expect.poll(() => begun).toBe(1)
    const stopped = test.registry.outbox.stop()
    reject(new RegistryError('shutting_down', 'The node is shutting down.'))
    await stopped
    expect(await rowsOf(test)).toMatchObject([{ state: 'pending', attempts: 0, attempt_log: '[]', lease: null }])
    expect(await test.registry.outbox.figures()).toMatchObject({ attempts: 0, failures: 0 })
  })

  it('of a process that dies again and again use up no attempts', async () => {
    const dying = await open()
    const { handler, begun, open: goOn } = createHandler()
    dying.registry.outbox.handle(topic, handler)
    await enqueue(dying, { payload: { n: 1 } })
    await expect.poll(() => begun).toEqual([1])
    const at = { at: dying.location }
    const comeBack = [goOn]
    for (let life = 1; life <= 7; life++) {
      const clock = createClock(dying.clock.now() + life * leaseMs)
      const next = await open({ ...at, clock })
      const ofNext = createHandler()
      comeBack.push(ofNext.open)
      next.registry.outbox.handle(topic, ofNext.handler)
      // Its clock stands still from here on, as that of a dead process.
      await expect.poll(() => ofNext.begun).toEqual([1])
    }
    const last = await open({ ...at, clock: createClock(dying.clock.now() + 8 * leaseMs) })
    const attempts: number[] = []
    last.registry.outbox.handle(topic, {
      retryDelaysMs: [],
      handle: async (_payload, attempt) => void attempts.push(attempt),
    })
    await expect.poll(() => countDone(last)).toBe(1)
    expect(attempts).toEqual([1])
    const rows = await rowsOf(last)
    for (const each of comeBack) each()
    await letLook()
    expect(await rowsOf(last), 'whoever comes back after all changes nothing').toEqual(rows)
  })

  it('are of use to what cannot be read, too: it fails at once, and takes nothing else with it', async () => {
    const test = await open()
    const { handler, begun, ended, open: goOn } = createHandler({ retryDelaysMs: [1000] })
    goOn()
    await enqueue(test, ...makeJobs(3))
    const [first, second] = await rowsOf(test)
    await test.registry.database.writer.write(async (trx) => {
      await trx.updateTable('outbox').set({ payload: '{' }).where('id', '=', first!.id).execute()
      await trx.updateTable('outbox').set({ attempt_log: '?' }).where('id', '=', second!.id).execute()
    })
    test.registry.outbox.handle(topic, handler)
    await expect.poll(async () => (await rowsOf(test)).map(({ state }) => state)).toEqual(['failed', 'done', 'done'])
    expect(begun).toHaveLength(2)
    expect(ended).toHaveLength(3)
    await test.registry.database.writer.write(async (trx) => {
      await trx.updateTable('outbox').set({ payload: '{}' }).where('id', '=', first!.id).execute()
    })
    expect((await test.registry.outbox.list(topic, 1))[0]!.attempts).toMatchObject([{ number: 1, error: null }])
  })

  it('keep what a failing `afterwards` undid, and let everything else end', async () => {
    const errors: unknown[] = []
    const test = await open({ onError: (error) => void errors.push(error) })
    let isBroken = true
    test.registry.outbox.handle(topic, {
      retryDelaysMs: [],
      async handle() {},
      async afterwards(_trx, jobs) {
        if (isBroken && jobs.some(({ payload }) => payload.n === 2)) throw new Error('Not this one.')
      },
    })
    await enqueue(test, ...makeJobs(5))
    await expect.poll(() => countDone(test)).toBe(4)
    await letLook()
    expect(errors).toEqual([new Error('Not this one.')])
    const left = (await rowsOf(test)).find(({ state }) => state === 'pending')
    expect(left).toMatchObject({ payload: '{"n":2}', attempts: 0 })
    isBroken = false
    test.clock.advance(leaseMs)
    await expect.poll(() => countDone(test)).toBe(5)
  })

  it.skipIf(dialect !== 'SQLite')(
    'of what ended while the disk was full are kept, and nothing is done twice',
    async () => {
      const errors: unknown[] = []
      const test = await open({ onError: (error) => void errors.push(error) })
      const { promise: full, resolve: goOn } = Promise.withResolvers<void>()
      let begun = 0
      test.registry.outbox.handle(topic, {
        retryDelaysMs: [],
        async handle() {
          begun += 1
          await full
          throw new Error('Much to say. '.repeat(150))
        },
      })
      await enqueue(test, ...makeJobs(8))
      await expect.poll(() => begun).toBe(8)
      const limitPages = (max: number) =>
        test.registry.database.writer.write((trx) => sql`pragma max_page_count = ${sql.lit(max)}`.execute(trx))
      await limitPages(1)
      await expect(enqueue(test, { payload: { noise: 'x'.repeat(100_000) } })).rejects.toMatchObject({
        code: 'SQLITE_FULL',
      })
      goOn()
      await setTimeout(200)
      const states = async () => (await rowsOf(test)).map(({ state }) => state)
      expect(new Set(await states())).toEqual(new Set(['pending']))
      await limitPages(1_000_000)
      await expect.poll(async () => new Set(await states())).toEqual(new Set(['failed']))
      expect({ begun, errors }).toEqual({ begun: 8, errors: [] })
    },
  )
})
