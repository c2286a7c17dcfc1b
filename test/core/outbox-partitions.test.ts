import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ClaimedRow } from '../../packages/core/src/outbox/claims.ts'
import { Partitions } from '../../packages/core/src/outbox/partitions.ts'

const hangMs = 5000

interface Shape {
  partition: string
  host?: string
}

let rowsMade = 0

function makeRow({ partition, host = '' }: Shape): ClaimedRow {
  const id = `row-${++rowsMade}`
  return { id, topic: 'test', partition, host, payload: '{}', attempts: 0, attempt_log: '[]', due_at: 0, lease: 'mine' }
}

const makeRows = (count: number, shape: Shape) => Array.from({ length: count }, () => makeRow(shape))

/** Queues with their own clock, and the running rows with functions that end them. */
function createPartitions() {
  let now = 0
  const partitions = new Partitions(
    async () => {},
    () => now,
  )
  const begun: ClaimedRow[] = []
  const running = new Map<ClaimedRow, () => void>()
  /** Adds rows, and returns those that begin, of these and of earlier ones. */
  const begin = async (rows: readonly ClaimedRow[] = []) => {
    const before = begun.length
    for (const row of rows)
      void partitions.run(row, async () => {
        begun.push(row)
        await new Promise<void>((resolve) => running.set(row, resolve))
        running.delete(row)
      })
    await setImmediate()
    return begun.slice(before)
  }
  const end = async (rows: Iterable<ClaimedRow>) => {
    for (const row of rows) running.get(row)!()
    await setImmediate()
  }
  const runningOf = (name: string) => [...running.keys()].filter(({ partition }) => partition === name)
  return { partitions, running, runningOf, begin, end, pass: (ms: number) => void (now += ms) }
}

type Run = ReturnType<typeof createPartitions>

/** Completes rows of a queue quickly, so that it counts as fast. */
async function prove({ begin, end }: Run, shape: Shape): Promise<void> {
  await end(await begin(makeRows(4, shape)))
}

function countBy<T>(items: readonly T[], key: (item: T) => string): number {
  return Math.max(0, ...[...Map.groupBy(items, key).values()].map((group) => group.length))
}

describe('queues of the outbox', () => {
  it('never exceed their limits in any order of events, and all rows complete', async () => {
    const step = fc.oneof(
      fc.record({
        add: fc.integer({ min: 1, max: 40 }),
        partition: fc.integer({ min: 0, max: 50 }),
        host: fc.integer({ min: 0, max: 6 }),
      }),
      fc.record({ end: fc.integer({ min: 1, max: 60 }), afterMs: fc.constantFrom(0, 10, 900, 1100, hangMs) }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
        const { partitions, running, begin, end, pass } = createPartitions()
        const seen = new Set<string>()
        let added = 0
        const endSome = async (count: number) => {
          const rows = [...running.keys()].slice(0, count)
          for (const { id } of rows) seen.add(id)
          await end(rows)
        }
        const check = () => {
          const rows = [...running.keys()]
          expect(partitions.running).toBe(rows.length)
          expect(rows.length).toBeLessThanOrEqual(256)
          expect(countBy(rows, ({ partition }) => partition)).toBeLessThanOrEqual(32)
          const ofHosts = rows.filter(({ host }) => host !== '')
          expect(countBy(ofHosts, ({ host }) => host)).toBeLessThanOrEqual(64)
          expect(partitions.room).toBeGreaterThanOrEqual(0)
        }
        for (const each of steps) {
          if ('add' in each) {
            const host = each.host === 0 ? '' : `host-${each.host}`
            const chosen = partitions.choose(makeRows(each.add, { partition: `partition-${each.partition}`, host }))
            await begin(chosen)
            added += chosen.length
          } else {
            pass(each.afterMs)
            await endSome(each.end)
          }
          check()
        }
        while (running.size > 0) {
          await endSome(running.size)
          check()
        }
        expect({ ended: seen.size, room: partitions.room, full: partitions.full, left: partitions.release() }).toEqual({
          ended: added,
          room: 1024,
          full: [],
          left: [],
        })
      }),
    )
  })

  it('take turns: a queue with few rows is not blocked by a queue with many rows', async () => {
    const run = createPartitions()
    for (const partition of ['many', 'few', 'one']) await prove(run, { partition })
    const begun = await run.begin([
      ...makeRows(100, { partition: 'many' }),
      ...makeRows(2, { partition: 'few' }),
      makeRow({ partition: 'one' }),
    ])
    expect(Object.groupBy(begun, ({ partition }) => partition)).toMatchObject({
      many: { length: 32 },
      few: { length: 2 },
      one: { length: 1 },
    })
    expect(await run.begin([makeRow({ partition: 'late' })])).toHaveLength(1)
  })

  it('start with few concurrent rows, run more after fast rows, and fewer again when rows hang', async () => {
    const { begin, end, pass, running, runningOf } = createPartitions()
    expect(await begin(makeRows(60, { partition: 'a' }))).toHaveLength(8)
    await end([...running.keys()].slice(0, 1))
    expect(runningOf('a')).toHaveLength(32)
    pass(hangMs)
    // It hangs, which is detected when one of its rows ends or more are claimed.
    expect((await begin(makeRows(1, { partition: 'b' }))).map(({ partition }) => partition)).toEqual(['b'])
    await end(runningOf('a').slice(0, 24))
    expect(runningOf('a'), 'no more than a hanging partition may have').toHaveLength(8)
    const last = runningOf('a').at(-1)!
    await end([last])
    expect(runningOf('a')).toHaveLength(8)
  })

  it('are still treated as slow for a while after they have no pending rows', async () => {
    const { begin, end, pass, running } = createPartitions()
    const hanging = Array.from({ length: 13 }, (_, n) => `hangs-${n}`)
    for (const partition of hanging) await begin(makeRows(8, { partition }))
    pass(hangMs)
    await end(running.keys())
    expect(running.size).toBe(0)
    for (const partition of hanging) await begin(makeRows(8, { partition }))
    expect(running.size, 'the places of all slow queues together').toBe(96)
    expect(await begin([makeRow({ partition: 'new' })])).toHaveLength(1)
  })

  it('that hang leave capacity for fast queues, even if two hundred queues hang', async () => {
    const run = createPartitions()
    const { partitions, begin, end, pass, running, runningOf } = run
    await prove(run, { partition: 'quick' })
    for (const round of [1, 2, 3]) {
      for (let n = 0; n < 200; n++) {
        await begin(partitions.choose(makeRows(100, { partition: `hangs-${n}` })))
      }
      expect(running.size, `round ${round}`).toBeLessThanOrEqual(224)
      expect(partitions.room, 'what hangs does not fill what may be claimed').toBeGreaterThanOrEqual(256)
      const quick = partitions.choose(makeRows(32, { partition: 'quick' }))
      expect(quick).toHaveLength(32)
      expect((await begin(quick)).filter(({ partition }) => partition === 'quick')).toHaveLength(32)
      await end(runningOf('quick'))
      while (running.size > 0) {
        pass(hangMs)
        await end(running.keys())
      }
    }
  })

  it('of the same host share the limit of the host, and do not use all capacity', async () => {
    const run = createPartitions()
    for (let n = 0; n < 20; n++) await prove(run, { partition: `of-one-${n}`, host: 'one.test' })
    for (let n = 0; n < 20; n++) {
      await run.begin(run.partitions.choose(makeRows(200, { partition: `of-one-${n}`, host: 'one.test' })))
    }
    expect(run.running.size).toBe(64)
    expect(run.partitions.room).toBe(1024 - 256)
    const begun = await run.begin(run.partitions.choose([makeRow({ partition: 'other', host: 'other.test' })]))
    expect(begun.map(({ partition }) => partition)).toEqual(['other'])
  })

  it('give up their pending rows when the worker stops, and keep their running rows', async () => {
    const { partitions, begin, end, running } = createPartitions()
    expect(await begin(makeRows(20, { partition: 'a', host: 'one.test' }))).toHaveLength(8)
    expect({ released: partitions.release().length, running: partitions.running }).toEqual({ released: 12, running: 8 })
    expect(await begin()).toEqual([])
    while (running.size > 0) await end(running.keys())
    expect(partitions.room).toBe(1024)
  })
})
