import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { measureListing, planListing, type ListedSkill, type ListingPlan } from '@skillstead/skill-format/loading'

const sentence = 'Fill in the forms of a PDF, page by page. '
const pdf = { name: 'pdf', fullName: 'alice/pdf', description: 'Fill PDF forms.' }
const long = { name: 'csv', fullName: 'bob/csv', description: sentence.repeat(12).trim() }

/** The listing that results from a plan. */
function applyPlan(skills: readonly ListedSkill[], { keep, shorten }: ListingPlan): ListedSkill[] {
  const kept = keep.map(({ index }) => [index, skills[index]!] as const)
  const shortened = shorten.map(({ index, description }) => [index, { ...skills[index]!, description }] as const)
  return [...kept, ...shortened].toSorted(([a], [b]) => a - b).map(([, skill]) => skill)
}

/** The description shortened to 80 characters. */
function cut(description: string): string {
  return planListing([{ name: '', description }], 80).shorten[0]!.description
}

function countWords(text: string): number {
  return text.split(/\s+/).filter(Boolean).length
}

describe('the plan of a listing of skills', () => {
  it('includes all skills in full if they fit', () => {
    expect(planListing([pdf, long], 8000)).toEqual({
      fits: true,
      budget: 8000,
      cost: 524,
      plannedCost: 524,
      keep: [
        { index: 0, name: 'alice/pdf', cost: 18 },
        { index: 1, name: 'bob/csv', cost: 506 },
      ],
      shorten: [],
      drop: [],
    })
    expect(planListing([], 0)).toMatchObject({ fits: true, cost: 0, keep: [] })
  })

  it('shortens the longest descriptions first, and cuts them at the end of a sentence', () => {
    const plan = planListing([pdf, long], 200)
    expect(plan).toMatchObject({ fits: false, keep: [{ name: 'alice/pdf' }], drop: [] })
    expect(plan.shorten).toEqual([
      { index: 1, name: 'bob/csv', from: 506, to: 170, description: sentence.repeat(4).trim() },
    ])
    expect(plan.plannedCost).toBe(188)
  })

  it('shortens all long descriptions to the same length', () => {
    const skills = [300, 200, 100].map((count, i) => ({ name: `s${i}`, description: 'word '.repeat(count).trim() }))
    const { shorten, plannedCost } = planListing(skills, 1000)
    const lengths = shorten.map(({ description }) => description.length)
    expect(Math.max(...lengths) - Math.min(...lengths)).toBe(0)
    expect(plannedCost).toBeGreaterThan(980)
    expect(plannedCost).toBeLessThanOrEqual(1000)
  })

  it('cuts a description after a word, with an ellipsis, if no sentence ends early enough; "e.g." ends no sentence', () => {
    expect(cut('word '.repeat(40))).toBe(`${'word '.repeat(15)}word…`)
    expect(cut(`${'word '.repeat(10)}e.g. ${'word '.repeat(40)}`)).toBe(
      `${'word '.repeat(10)}e.g. ${'word '.repeat(4)}word…`,
    )
    expect(cut('表を読む。'.repeat(40))).toBe('表を読む。'.repeat(16))
    expect(cut('😀'.repeat(100))).toBe(`${'😀'.repeat(39)}…`)
  })

  it('omits the last skills with a reason if they do not fit even with shortened descriptions', () => {
    const skills = ['a', 'b', 'c', 'd'].map((name) => ({ name, description: 'word '.repeat(100) }))
    const plan = planListing(skills, 200)
    expect(plan.shorten.map(({ name }) => name)).toEqual(['a', 'b'])
    expect(plan.drop).toEqual([
      { index: 2, name: 'c', cost: 501, reason: 'It does not fit after the skills before it.' },
      { index: 3, name: 'd', cost: 501, reason: 'A skill before it does not fit, and the order does not change.' },
    ])
  })

  it('omits all skills for a budget of 0, and rejects invalid budgets', () => {
    for (const budget of [0, 5]) {
      const { drop, plannedCost, keep, shorten } = planListing([pdf, long], budget)
      expect({ plannedCost, keep, shorten }).toEqual({ plannedCost: 0, keep: [], shorten: [] })
      expect(drop[0]).toMatchObject({ name: 'alice/pdf', reason: 'Not even the first skill fits into the budget.' })
    }
    for (const budget of [-1, Number.NaN, undefined as unknown as number])
      expect(() => planListing([pdf], budget)).toThrow(TypeError)
  })

  it('measures the budget in tokens if a token counter is given', () => {
    const plan = planListing([pdf, long], 60, { measure: countWords })
    expect(plan).toMatchObject({ fits: false, cost: 125, keep: [{ cost: 4 }] })
    expect(plan.shorten[0]!.to).toBe(countWords(plan.shorten[0]!.description) + 1)
    expect(plan.plannedCost).toBeLessThanOrEqual(60)
  })
})

const descriptions = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc
    .array(fc.constantFrom('word', 'End.', 'e.g.', '句。', '😀', 'x'.repeat(90)), { maxLength: 80 })
    .map((list) => list.join(' ')),
)
const skills = fc.array(fc.record({ name: fc.string({ minLength: 1, maxLength: 20 }), description: descriptions }), {
  maxLength: 25,
})
/** A measure that may return more for a shorter text, as token counters do. */
const measures = fc.constantFrom(
  (text: string) => text.length,
  (text: string) => new TextEncoder().encode(text).length,
  (text: string) => Math.ceil(text.length / 4) + (text.endsWith('…') ? 2 : 0) + (text.length % 7),
)

describe('every plan of a listing of skills', () => {
  it('never exceeds the budget, keeps the order of skills, and lists every skill as included or omitted', () => {
    const lengthMin = fc.constantFrom(0, 1, 80, 500)
    fc.assert(
      fc.property(skills, fc.nat(4000), measures, lengthMin, (list, budget, measure, descriptionCharactersMin) => {
        const plan = planListing(list, budget, { measure, descriptionCharactersMin })
        const listing = applyPlan(list, plan)
        expect(plan.plannedCost).toBe(measureListing(listing, measure))
        expect(plan.plannedCost).toBeLessThanOrEqual(budget)
        expect(plan.cost).toBe(measureListing(list, measure))
        expect(plan.fits).toBe(plan.cost <= budget)
        const { keep, shorten, drop } = plan
        for (const part of [keep, shorten, drop]) {
          const indexes = part.map(({ index }) => index)
          expect(indexes).toEqual(indexes.toSorted((a, b) => a - b))
          for (const { index, name } of part) expect(name).toBe(list[index]!.name)
        }
        const all = [...keep, ...shorten, ...drop].map(({ index }) => index)
        expect(all.toSorted((a, b) => a - b)).toEqual(list.map((_, i) => i))
        // Only the end is dropped, and nothing if it fits.
        expect(drop.map(({ index }) => index)).toEqual(list.map((_, i) => i).slice(listing.length))
        expect(keep.length === list.length || !plan.fits).toBe(true)
      }),
      { numRuns: 1000 },
    )
  })

  it('shortens each description to a prefix of the original description', () => {
    fc.assert(
      fc.property(skills, fc.nat(4000), (list, budget) => {
        for (const { index, from, to, description } of planListing(list, budget).shorten) {
          expect(to).toBeLessThan(from)
          expect(list[index]!.description.startsWith(description.replace(/…$/, ''))).toBe(true)
        }
      }),
    )
  })

  it('omits no more skills with a larger budget than with a smaller budget', () => {
    fc.assert(
      fc.property(skills, fc.nat(4000), fc.nat(1000), (list, budget, more) => {
        const [less, greater] = [planListing(list, budget), planListing(list, budget + more)]
        expect(greater.drop.length).toBeLessThanOrEqual(less.drop.length)
      }),
    )
  })
})
