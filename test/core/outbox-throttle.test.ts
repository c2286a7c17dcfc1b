import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Throttle } from '../../packages/core/src/outbox/throttle.ts'

/** A throttle in a simulated process with given time, loop load and requests. */
function createProcess() {
  const process = { ms: 5000, activeMs: 1000, traffic: { calls: 7 } }
  const throttle = new Throttle(process.traffic, { now: () => process.ms, activeMs: () => process.activeMs })

  /** Starts what the throttle allows, `wanted` at most; returns the number. */
  function beginSome(wanted: number): number {
    const count = Math.max(0, Math.min(wanted, throttle.room))
    throttle.begin(count)
    return count
  }

  /** Lets time pass in turns of the loop, each of which starts all that is allowed; returns the number of starts. */
  function pass(ms: number, { busy = 0, calls = 0, turnMs = 1, wanted = Infinity, most = 256 } = {}): number {
    let begun = 0
    for (let passed = 0; passed < ms; passed += turnMs) {
      process.ms += turnMs
      process.activeMs += turnMs * busy
      process.traffic.calls += calls
      begun += beginSome(Math.min(most, wanted - begun))
    }
    return begun
  }
  return { throttle, pass }
}

const hurried = { busy: 0.95, calls: 1 }

describe('the throttle of the outbox', () => {
  it('delays no work while no requests arrive, even if the process is busy', () => {
    const { throttle, pass } = createProcess()
    pass(1000, { busy: 1 })
    expect(throttle.room).toBe(Infinity)
  })

  it('delays no work while the event loop has time for requests', () => {
    const { throttle, pass } = createProcess()
    pass(1000, { busy: 0.7, calls: 3 })
    expect(throttle.room).toBe(Infinity)
  })

  it('starts fewer jobs while requests are served and the event loop is busy, but at least 600 per second', () => {
    const { pass } = createProcess()
    const each = [1, 2, 3, 4, 5].map(() => pass(200, { ...hurried, most: 30 }))
    expect(each.toSorted((a, b) => b - a)).toEqual(each)
    const last = pass(1000, hurried)
    expect(last).toBeGreaterThanOrEqual(590)
    expect(last).toBeLessThanOrEqual(610)
  })

  it('lets work start at once when requests arrive, even if much work started before', () => {
    const { pass } = createProcess()
    pass(5000, { most: 256 })
    pass(60, hurried)
    expect(pass(100, hurried)).toBeGreaterThanOrEqual(50)
  })

  it('starts at most about ten milliseconds of work at once, however long the pause before it', () => {
    const { throttle, pass } = createProcess()
    pass(1000, hurried)
    pass(10_000, { ...hurried, wanted: 0 })
    expect(throttle.room).toBe(6)
  })

  it('stops delaying work when no requests arrive, and delays less while the event loop has time', () => {
    const { throttle, pass } = createProcess()
    pass(1000, hurried)
    const each = [1, 2, 3, 4].map(() => pass(200, { busy: 0.5, calls: 1 }))
    expect(each.toSorted((a, b) => a - b)).toEqual(each)
    expect(each.at(-1)).toBeGreaterThan(2 * each[0]!)
    pass(400)
    expect(throttle.room).toBe(Infinity)
  })

  it('keeps delaying work after a short pause without requests, which a busy event loop can cause', () => {
    const { throttle, pass } = createProcess()
    pass(1000, hurried)
    pass(150, { busy: 1 })
    expect(throttle.isLimiting).toBe(true)
    expect(throttle.room).toBeLessThan(20)
    pass(150, { busy: 1 })
    expect(throttle.isLimiting).toBe(false)
  })

  it('never stops work: in every state, work can start within a few milliseconds', () => {
    const step = fc.record({
      ms: fc.integer({ min: 1, max: 2000 }),
      turnMs: fc.integer({ min: 1, max: 80 }),
      busy: fc.double({ min: 0, max: 1, noNaN: true }),
      calls: fc.integer({ min: 0, max: 2 }),
      most: fc.integer({ min: 0, max: 256 }),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        const { throttle, pass } = createProcess()
        for (const { ms, ...how } of steps) {
          pass(ms, how)
          expect(throttle.room).toBeGreaterThanOrEqual(0)
          expect(pass(4, hurried)).toBeGreaterThan(0)
        }
      }),
    )
  })
})
