import { partsOf } from '@skillstead/core/internal'
import { expect, it } from 'vitest'
import { RegistryError } from '@skillstead/protocol'
import { createClock, describeDatabases, type Open } from '../support/harness.ts'
import { leaseMs, letLook, makeJobs, outboxOf } from '../support/outbox-acts.ts'

const topic = 'leased'

const { enqueue, rowsOf, countDone } = outboxOf(topic)

/** A handler that records its start and waits for a release. */
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
  partsOf(first.registry).outbox.handle(topic, ofFirst.handler)
  await enqueue(first, { payload: { n: 1 } })
  await expect.poll(() => ofFirst.begun).toEqual([1])
  partsOf(second.registry).outbox.handle(topic, ofSecond.handler)
  return { first, second, ofFirst, ofSecond }
}

describeDatabases('the leases of the outbox', (open) => {
  it('are renewed as long as a handler runs, so that no other process runs the row', async () => {
    const { first, second, ofFirst, ofSecond } = await openTwo(open)
    for (let step = 0; step < 6; step++) {
      first.clock.advance(leaseMs / 2)
      await expect.poll(async () => (await rowsOf(first))[0]!.claimable_at).toBe(first.clock.now() + leaseMs)
      await enqueue(second, { partition: 'other', payload: { n: 100 + step } })
      await expect.poll(() => [...ofFirst.begun, ...ofSecond.begun]).toContain(100 + step)
    }
    expect(ofSecond.begun).not.toContain(1)
    ofFirst.open()
    ofSecond.open()
    await expect.poll(() => countDone(first)).toBe(7)
    expect((await rowsOf(first)).map(({ attempts }) => attempts)).toEqual([1, 1, 1, 1, 1, 1, 1])
  })

  it('of a dead process block its rows only until the leases expire', async () => {
    const clock = createClock()
    // The first clock stands still, so that its process renews nothing.
    const { first, second, ofFirst, ofSecond } = await openTwo(open, { second: clock })
    ofSecond.open()
    const look = () =>
      partsOf(second.registry).database.writer.write((trx) => partsOf(second.registry).outbox.enqueue(trx))
    clock.advance(leaseMs - 1)
    await look()
    await letLook()
    expect(ofSecond.begun).toEqual([])
    clock.advance(1)
    await expect.poll(() => ofSecond.begun).toEqual([1])
    await expect.poll(() => countDone(second)).toBe(1)
    const rows = await rowsOf(second)
    expect(rows).toMatchObject([{ attempts: 1 }])
    ofFirst.open()
    await first.registry.close()
    expect(await rowsOf(second), 'the dead one, come back late, changes nothing').toEqual(rows)
  })

  it('that were lost are not used: a process does not change a row that another process now leases', async () => {
    const clock = createClock()
    const { first, second, ofFirst, ofSecond } = await openTwo(open, { second: clock })
    clock.advance(leaseMs)
    await expect.poll(() => ofSecond.begun).toEqual([1])
    const [taken] = await rowsOf(second)
    // The first renews too late, and completes while the second is running the row.
    first.clock.advance(leaseMs / 2)
    ofFirst.open()
    await letLook()
    expect(await rowsOf(second)).toEqual([taken])
    expect(ofFirst.ended, 'no row is handled twice').toEqual([])
    ofSecond.open()
    await expect.poll(() => countDone(second)).toBe(1)
    expect(ofSecond.ended).toEqual([taken!.id])
    expect((await rowsOf(second))[0]).toMatchObject({ attempts: 1, lease: null })
  })

  it('that expired while the computer slept are renewed by the same process, and no row runs twice', async () => {
    const test = await open()
    const { begun, ended, handler, open: goOn } = createHandler()
    partsOf(test.registry).outbox.handle(topic, handler)
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

  it('of rows that have not started are released when a node stops, after running rows complete', async () => {
    const test = await open()
    const { begun, ended, handler, open: goOn } = createHandler()
    partsOf(test.registry).outbox.handle(topic, handler)
    await enqueue(test, ...makeJobs(30))
    await expect.poll(() => begun.length).toBe(8)
    expect(
      (await rowsOf(test)).every(({ lease }) => lease !== null),
      'all are claimed',
    ).toBe(true)
    const stopped = partsOf(test.registry).outbox.stop()
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
    partsOf(test.registry).outbox.start()
    await expect.poll(() => countDone(test)).toBe(30)
  })

  it('end when the node stops: an attempt that the shutdown interrupts does not count', async () => {
    const test = await open()
    const { promise: closing, reject } = Promise.withResolvers<void>()
    let begun = 0
    partsOf(test.registry).outbox.handle(topic, {
      retryDelaysMs: [1000],
      async handle() {
        begun += 1
        await closing
      },
    })
    await enqueue(test, { payload: {} })
    await expect.poll(() => begun).toBe(1)
    const stopped = partsOf(test.registry).outbox.stop()
    reject(new RegistryError('shutting_down', 'The node is shutting down.'))
    await stopped
    expect(await rowsOf(test)).toMatchObject([{ state: 'pending', attempts: 0, attempt_log: '[]', lease: null }])
    expect(await partsOf(test.registry).outbox.figures()).toMatchObject({ attempts: 0, failures: 0 })
  })

  it('of a process that crashes repeatedly do not use up the attempts of a row', async () => {
    const dying = await open()
    const { handler, begun, open: goOn } = createHandler()
    partsOf(dying.registry).outbox.handle(topic, handler)
    await enqueue(dying, { payload: { n: 1 } })
    await expect.poll(() => begun).toEqual([1])
    const at = { at: dying.location }
    const comeBack = [goOn]
    for (let life = 1; life <= 7; life++) {
      const clock = createClock(dying.clock.now() + life * leaseMs)
      const next = await open({ ...at, clock })
      const ofNext = createHandler()
      comeBack.push(ofNext.open)
      partsOf(next.registry).outbox.handle(topic, ofNext.handler)
      // Its clock stands still from here on, like that of a dead process.
      await expect.poll(() => ofNext.begun).toEqual([1])
    }
    const last = await open({ ...at, clock: createClock(dying.clock.now() + 8 * leaseMs) })
    const attempts: number[] = []
    partsOf(last.registry).outbox.handle(topic, {
      retryDelaysMs: [],
      handle: async (_payload, attempt) => void attempts.push(attempt),
    })
    await expect.poll(() => countDone(last)).toBe(1)
    expect(attempts).toEqual([1])
    const rows = await rowsOf(last)
    for (const each of comeBack) each()
    await letLook()
    expect(await rowsOf(last), 'a worker that returns late changes nothing').toEqual(rows)
  })
})
