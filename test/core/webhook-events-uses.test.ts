import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sumUsesBySkill, toClientName, toUseKey } from '../../packages/core/src/catalogue/context/use-counts.ts'
import { takeUses, type Watched } from '../../packages/core/src/webhooks/download-events.ts'

describe('the uses of skills that one transaction counts', () => {
  const uses = fc.uniqueArray(
    fc.record({
      skill: fc.constantFrom('a', 'b', 'c'),
      client: fc.option(fc.constantFrom('x', 'y z'), { nil: undefined }),
      count: fc.integer({ min: 1, max: 900 }),
    }),
    { selector: ({ skill, client }) => toUseKey(skill, client), maxLength: 9 },
  )
  const hooksMax = 400
  const hooks = fc.record({ a: fc.nat({ max: 20 }), b: fc.nat({ max: hooksMax }), c: fc.constant(0) })

  it('cause a limited number of deliveries, and all other uses are left for the next transaction', () => {
    fc.assert(
      fc.property(uses, hooks, (list, webhooks) => {
        const all = new Map(list.map(({ skill, client, count }) => [toUseKey(skill, client), count]))
        const watched = new Map<string, Watched>()
        for (const [skill, count] of Object.entries(webhooks))
          if (count > 0) watched.set(skill, { skill: undefined!, subscribers: Array.from({ length: count }) as never })
        const { taken, left } = takeUses(all, watched)
        const parts = [...taken, ...left]
        expect(new Map([...all.keys()].map((key) => [key, sum(parts.filter(([each]) => each === key))]))).toEqual(all)
        expect(parts.every(([, count]) => count > 0)).toBe(true)
        const deliveries = [...sumUsesBySkill(taken)].map(
          ([skill, n]) => n * (watched.get(skill)?.subscribers.length ?? 0),
        )
        expect(deliveries.reduce((total, n) => total + n, 0)).toBeLessThan(256 + hooksMax)
        expect(taken.size > 0 || all.size === 0).toBe(true)
        expect(
          [...left.keys()].some((key) => key.startsWith('c')),
          'what emits no event',
        ).toBe(false)
      }),
    )
  })
})

function sum(counts: [string, number][]): number {
  return counts.reduce((total, [, n]) => total + n, 0)
}

describe('the name of a client', () => {
  it('is short, printable and storable, for any input', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (named) => {
        const name = toClientName(named)
        expect(name.length).toBeGreaterThan(0)
        expect(name.length).toBeLessThanOrEqual(64)
        expect(name.isWellFormed()).toBe(true)
        expect(name).not.toMatch(/[\p{Cc}\p{Cf}]/u)
        expect(toClientName(name)).toBe(name)
      }),
      { examples: [['\ud800'], ['\u0000'], ['a\u202eb'], [`${'a'.repeat(63)}\u{1f600}`]] },
    )
  })

  it.each([undefined, '', ' ', '\u0000\u200b'])('is "unknown" if the client sends no usable name: %j', (named) => {
    expect(toClientName(named)).toBe('unknown')
  })
})
