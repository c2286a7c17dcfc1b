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

/** Queues with their own clock, and a record of running rows and their maximum. */
function createPartitions() {
  let now = 0
  const partitions = new Partitions(() => now)
  const running: ClaimedRow[] = []
  const begin = () => {
    const begun = partitions.begin()
    running.push(...begun)
    return begun
  }
  const end = (row: ClaimedRow) => {
    running.splice(running.indexOf(row), 1)
    partitions.end(row)
  }
  return { partitions, running, begin, end, pass: (ms: number) => void (now += ms) }
}

type Run = ReturnType<typeof createPartitions>

/** Completes rows of a queue quickly, so that it counts as fast. */
function prove({ partitions, begin, end }: Run, shape: Shape): void {
  partitions.add(makeRows(4, shape))
  for (const row of begin()) end(row)
}

function countBy<T>(items: readonly T[], key: (item: T) => string): number {
  return Math.max(0, ...[...Map.groupBy(items, key).values()].map((group) => group.length))
}

describe('queues', () => {
  it('never exceed their limits in any order of events, and all rows complete', () => {
    const step = fc.oneof(
      fc.record({
        add: fc.integer({ min: 1, max: 40 }),
        partition: fc.integer({ min: 0, max: 50 }),
        host: fc.integer({ min: 0, max: 6 }),
      }),
      fc.record({ end: fc.integer({ min: 1, max: 60 }), afterMs: fc.constantFrom(0, 10, 900, 1100, hangMs) }),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const run = createPartitions()
        const { partitions, running, begin, end, pass } = run
        const seen = new Set<string>()
        let added = 0
        const endSome = (count: number) => {
          for (const row of running.slice(0, count)) {
            seen.add(row.id)
            end(row)
          }
        }
        const check = () => {
          begin()
          expect(partitions.running).toBe(running.length)
          expect(running.length).toBeLessThanOrEqual(256)
          expect(countBy(running, ({ partition }) => partition)).toBeLessThanOrEqual(32)
          const ofHosts = running.filter(({ host }) => host !== '')
          expect(countBy(ofHosts, ({ host }) => host)).toBeLessThanOrEqual(64)
          expect(partitions.room).toBeGreaterThanOrEqual(0)
        }
        for (const each of steps) {
          if ('add' in each) {
            const host = each.host === 0 ? '' : `host-${each.host}`
            const chosen = partitions.choose(makeRows(each.add, { partition: `partition-${each.partition}`, host }))
            partitions.add(chosen)
            added += chosen.length
          } else {
            pass(each.afterMs)
            endSome(each.end)
          }
          check()
        }
        while (running.length > 0) {
          endSome(running.length)
          check()
        }
        expect({ ended: seen.size, room: partitions.room, full: partitions.full, left: partitions.clear() }).toEqual({
          ended: added,
          room: 1024,
          full: [],
          left: [],
        })
      }),
    )
  })

  it('take turns: a queue with few rows is not blocked by one with many', () => {
    const run = createPartitions()
    for (const partition of ['many', 'few', 'one']) prove(run, { partition })
    run.partitions.add([
      ...makeRows(200, { partition: 'many' }),
      ...makeRows(2, { partition: 'few' }),
      makeRow({ partition: 'one' }),
    ])
    const begun = run.begin().map(({ partition }) => partition)
    expect(begun.slice(0, 5)).toEqual(['many', 'few', 'one', 'many', 'few'])
    expect(begun.length).toBe(35)
    // A queue that just had a turn comes last.
    run.partitions.add([makeRow({ partition: 'late' })])
    run.end(run.running.find(({ partition }) => partition === 'many')!)
    expect(run.begin().map(({ partition }) => partition)).toEqual(['many', 'late'])
  })

  it('run few rows at a time while they are new, many once they were fast, and few again when they hang', () => {
    const run = createPartitions()
    const begunOf = () => run.running.length
    run.partitions.add(makeRows(60, { partition: 'a' }))
    run.begin()
    expect(begunOf()).toBe(8)
    run.end(run.running[0]!)
    run.begin()
    expect(begunOf()).toBe(32)
    run.pass(hangMs)
    // It hangs, which is detected before any of its rows completes.
    run.partitions.add(makeRows(1, { partition: 'b' }))
    expect(run.begin().map(({ partition }) => partition)).toEqual(['b'])
    while (run.running.filter(({ partition }) => partition === 'a').length > 8) run.end(run.running[0]!)
    expect(run.begin(), 'no more than a hanging partition may have').toEqual([])
    run.end(run.running.find(({ partition }) => partition === 'a')!)
    expect(run.begin()).toHaveLength(1)
  })

  it('are still known as slow for a while after they have no pending rows', () => {
    const run = createPartitions()
    run.partitions.add([makeRow({ partition: 'a' })])
    const [row] = run.begin()
    run.pass(hangMs)
    run.end(row!)
    expect(run.partitions.choose(makeRows(100, { partition: 'a' }))).toHaveLength(16)
    expect(run.partitions.choose(makeRows(100, { partition: 'b' }))).toHaveLength(64)
  })

  it('that hang leave capacity for fast queues, however many hang, and even if not known as slow', () => {
    const run = createPartitions()
    prove(run, { partition: 'quick' })
    for (const round of [1, 2, 3]) {
      for (let n = 0; n < 200; n++) {
        run.partitions.add(run.partitions.choose(makeRows(100, { partition: `hangs-${n}` })))
      }
      run.begin()
      expect(run.running.length, `round ${round}`).toBeLessThanOrEqual(224)
      expect(run.partitions.room, 'what hangs does not fill what may be claimed').toBeGreaterThanOrEqual(256)
      const quick = run.partitions.choose(makeRows(32, { partition: 'quick' }))
      expect(quick).toHaveLength(32)
      run.partitions.add(quick)
      expect(run.begin().filter(({ partition }) => partition === 'quick')).toHaveLength(32)
      for (const row of run.running.filter(({ partition }) => partition === 'quick')) run.end(row)
      run.pass(hangMs)
      while (run.running.length > 0) run.end(run.running[0]!)
    }
  })

  it('of one host respect the limit of the host together, and do not use all capacity', () => {
    const run = createPartitions()
    for (let n = 0; n < 20; n++) prove(run, { partition: `of-one-${n}`, host: 'one.test' })
    for (let n = 0; n < 20; n++) {
      run.partitions.add(run.partitions.choose(makeRows(200, { partition: `of-one-${n}`, host: 'one.test' })))
    }
    run.begin()
    expect(run.running).toHaveLength(64)
    expect(run.partitions.room).toBe(1024 - 256)
    run.partitions.add(run.partitions.choose([makeRow({ partition: 'other', host: 'other.test' })]))
    expect(run.begin().map(({ partition }) => partition)).toEqual(['other'])
  })

  it('release their pending rows, and keep their running rows', () => {
    const run = createPartitions()
    run.partitions.add(makeRows(20, { partition: 'a', host: 'one.test' }))
    run.begin()
    const waiting = run.partitions.clear()
    expect({ waiting: waiting.length, running: run.partitions.running }).toEqual({ waiting: 12, running: 8 })
    expect(run.begin()).toEqual([])
    while (run.running.length > 0) run.end(run.running[0]!)
    expect(run.partitions.room).toBe(1024)
  })
})
