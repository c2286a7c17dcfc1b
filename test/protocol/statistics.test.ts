import { differenceInterval, toPercent, toPoints, wilsonInterval } from '@skillstead/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

const counts = fc
  .integer({ min: 1, max: 1_000_000 })
  .chain((runs) => fc.record({ runs: fc.constant(runs), passed: fc.integer({ min: 0, max: runs }) }))

describe('the Wilson interval', () => {
  it.each([
    // Newcombe, "Two-sided confidence intervals for the single proportion" (1998), table I, method 3.
    [81, 263, 0.308, 0.2553, 0.3662],
    [15, 148, 0.1014, 0.0624, 0.1605],
    [0, 20, 0, 0, 0.1611],
    [1, 29, 0.0345, 0.0061, 0.1718],
    [10, 10, 1, 0.7225, 1],
    [1, 1, 1, 0.2065, 1],
  ])('for %d of %d is as published', (passed, runs, rate, low, high) => {
    const interval = wilsonInterval(passed, runs)
    expect(interval.rate).toBeCloseTo(rate, 3)
    expect(interval.low).toBeCloseTo(low, 4)
    expect(interval.high).toBeCloseTo(high, 4)
  })

  it('contains the success rate, stays within 0 and 1, and is mirrored if failures are counted instead', () => {
    fc.assert(
      fc.property(counts, ({ passed, runs }) => {
        const { rate, low, high } = wilsonInterval(passed, runs)
        expect(0 <= low && low <= rate && rate <= high && high <= 1).toBe(true)
        const failures = wilsonInterval(runs - passed, runs)
        expect(failures.low).toBeCloseTo(1 - high, 9)
        expect(failures.high).toBeCloseTo(1 - low, 9)
      }),
    )
  })

  it('narrows with more runs of the same rate', () => {
    fc.assert(
      fc.property(counts, fc.integer({ min: 2, max: 100 }), ({ passed, runs }, times) => {
        const few = wilsonInterval(passed, runs)
        const many = wilsonInterval(passed * times, runs * times)
        expect(many.high - many.low).toBeLessThan(few.high - few.low)
      }),
    )
  })

  it.each([
    [0, 0],
    [2, 1],
    [-1, 5],
    [1, -1],
    [Number.NaN, 5],
    [1, Number.NaN],
    [1, Number.POSITIVE_INFINITY],
  ])('rejects the counts %d of %d', (passed, runs) => {
    expect(() => wilsonInterval(passed, runs)).toThrow(TypeError)
  })
})

describe("Newcombe's interval of a difference", () => {
  it.each([
    // Newcombe, "Interval estimation for the difference between independent proportions" (1998), table II, method 10.
    [56, 70, 48, 80, 0.2, 0.0524, 0.3339],
    [9, 10, 3, 10, 0.6, 0.1705, 0.809],
    [10, 10, 0, 20, 1, 0.6791, 1],
    [0, 10, 0, 20, 0, -0.1611, 0.2775],
    [10, 10, 0, 10, 1, 0.6075, 1],
  ])('for %d of %d against %d of %d is as published', (passed, runs, otherPassed, otherRuns, value, low, high) => {
    const difference = differenceInterval({ passed, runs }, { passed: otherPassed, runs: otherRuns })
    expect(difference.value).toBeCloseTo(value, 9)
    expect(difference.low).toBeCloseTo(low, 4)
    expect(difference.high).toBeCloseTo(high, 4)
  })

  it('contains the difference, stays within -1 and 1, and changes its sign when the sides are swapped', () => {
    fc.assert(
      fc.property(counts, counts, (one, other) => {
        const { value, low, high } = differenceInterval(one, other)
        expect(-1 <= low && low <= value && value <= high && high <= 1).toBe(true)
        const turned = differenceInterval(other, one)
        expect(turned.low).toBeCloseTo(-high, 9)
        expect(turned.high).toBeCloseTo(-low, 9)
      }),
    )
  })

  it('shows no difference between equal counts', () => {
    fc.assert(
      fc.property(counts, (one) => {
        const { low, high } = differenceInterval(one, one)
        expect(low <= 0 && high >= 0).toBe(true)
      }),
    )
  })
})

it.each<[number, string, string]>([
  [0.846, '85 %', '+85'],
  [0, '0 %', '0'],
  [-0.3, '-30 %', '−30'],
])('the difference %d is shown as whole per cent and points', (value, percent, points) => {
  expect({ percent: toPercent(value), points: toPoints(value) }).toEqual({ percent, points })
})
