import { cutAtSentence } from './plan-cut.ts'

/** A skill as a host lists it; `fullName` names it in the plan where short names are not enough. */
export interface ListedSkill {
  readonly name: string
  readonly description: string
  readonly fullName?: string
}

/** How a listing is measured and how far it may be shortened. */
export interface PlanOptions {
  /** What a text costs: its characters by default; give a counter of tokens for a budget in tokens. */
  readonly measure?: (text: string) => number
  /** No description is cut to fewer characters than so many, but for the rest of a sentence or word: 80 by default. */
  readonly descriptionCharactersMin?: number
}

/** Where a skill stands in the list that was given, from 0, and what it is called. */
interface Planned {
  readonly index: number
  readonly name: string
}

/** What becomes of each skill of a listing: every one is in `keep`, `shorten` or `drop`, and in the given order. */
export interface ListingPlan {
  /** Whether everything fits as it is. */
  readonly fits: boolean
  readonly budget: number
  /** What the listing costs as it is, and as planned, which is never more than the budget. */
  readonly cost: number
  readonly plannedCost: number
  readonly keep: (Planned & { readonly cost: number })[]
  /** `description` takes the place of a longer one; `from` and `to` are what the skill costs before and after. */
  readonly shorten: (Planned & { readonly from: number; readonly to: number; readonly description: string })[]
  readonly drop: (Planned & { readonly cost: number; readonly reason: string })[]
}

/** What hosts reckon for a list of skills: the names and the descriptions. */
export function measureListing(
  skills: readonly ListedSkill[],
  measure: (text: string) => number = countCharacters,
): number {
  return skills.reduce((sum, skill) => sum + costOf(skill, measure), 0)
}

/**
 * Makes a list of skills fit a budget. The given order is the order of importance and is kept: the longest descriptions
 * are shortened first, all to the same length; what does not fit even so is dropped from the end.
 * Throws a TypeError for a budget that is no number from 0.
 *
 * @example planListing(pack.skills, 8000).drop.map(({ name }) => name)
 */
export function planListing(skills: readonly ListedSkill[], budget: number, options: PlanOptions = {}): ListingPlan {
  if (!(budget >= 0)) throw new TypeError(`A budget is a number from 0; this one is ${budget}.`)
  const { measure = countCharacters, descriptionCharactersMin = 80 } = options
  const whole = skills.map((skill) => ({ skill, description: skill.description, cost: costOf(skill, measure) }))
  const cost = sumOf(whole)
  if (cost <= budget) return toPlan(whole, whole, budget)
  const cutTo = (count: number, charactersMax: number) => cutEntries(whole.slice(0, count), charactersMax, measure)
  const count = countFitting(cutTo(whole.length, descriptionCharactersMin), budget)
  const charactersMax = findLengthMax(
    whole,
    descriptionCharactersMin,
    (length) => sumOf(cutTo(count, length)) <= budget,
  )
  return toPlan(whole, cutTo(count, charactersMax), budget)
}

interface Entry {
  readonly skill: ListedSkill
  readonly description: string
  readonly cost: number
}

function countCharacters(text: string): number {
  return text.length
}

function costOf({ name, description }: ListedSkill, measure: (text: string) => number): number {
  return measure(name) + measure(description)
}

function sumOf(entries: readonly Entry[]): number {
  return entries.reduce((sum, { cost }) => sum + cost, 0)
}

function cutEntries(entries: Entry[], charactersMax: number, measure: (text: string) => number): Entry[] {
  return entries.map((entry) => {
    if (entry.description.length <= charactersMax) return entry
    const description = cutAtSentence(entry.description, charactersMax)
    const cost = costOf({ name: entry.skill.name, description }, measure)
    // A counter of tokens may find a shorter text dearer.
    return cost < entry.cost ? { ...entry, description, cost } : entry
  })
}

/** How many of the first entries a budget holds. */
function countFitting(entries: readonly Entry[], budget: number): number {
  let left = budget
  const end = entries.findIndex(({ cost }) => (left -= cost) < 0)
  return end === -1 ? entries.length : end
}

/** The greatest length that fits, where the smallest is known to. */
function findLengthMax(entries: readonly Entry[], lengthMin: number, fits: (length: number) => boolean): number {
  let low = lengthMin
  let high = entries.reduce((max, { description }) => Math.max(max, description.length), lengthMin)
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (fits(middle)) low = middle
    else high = middle - 1
  }
  return low
}

function toPlan(whole: readonly Entry[], planned: readonly Entry[], budget: number): ListingPlan {
  const cost = sumOf(whole)
  const plan: ListingPlan = {
    fits: cost <= budget,
    budget,
    cost,
    plannedCost: sumOf(planned),
    keep: [],
    shorten: [],
    drop: [],
  }
  for (const [index, { skill, cost: from }] of whole.entries()) {
    const entry = planned[index]
    const name = skill.fullName ?? skill.name
    if (!entry) plan.drop.push({ index, name, cost: from, reason: toReason(index, planned.length) })
    else if (entry.description === skill.description) plan.keep.push({ index, name, cost: from })
    else plan.shorten.push({ index, name, from, to: entry.cost, description: entry.description })
  }
  return plan
}

function toReason(index: number, kept: number): string {
  if (kept === 0) return 'Not even the first skill fits the budget.'
  return index === kept
    ? 'It does not fit after those before it.'
    : 'One before it does not fit, and the order is kept.'
}
