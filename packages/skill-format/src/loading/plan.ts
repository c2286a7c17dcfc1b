import { shortenAtWord } from '../skill-md/text.ts'

/** A skill in a host's list; `fullName` identifies it in the plan if short names are ambiguous. */
export interface ListedSkill {
  readonly name: string
  readonly description: string
  readonly fullName?: string
}

/** How a listing is measured, and how far it may be shortened. */
export interface PlanOptions {
  /** Cost of a text. Default: its number of characters; pass a token counter for a budget in tokens. */
  readonly measure?: (text: string) => number
  /** Minimum length of shortened descriptions in characters, apart from the end of a sentence or word. Default: 80. */
  readonly descriptionCharactersMin?: number
}

/** Index of a skill in the given list, from 0, and its name. */
interface Planned {
  readonly index: number
  readonly name: string
}

/** The plan of a listing: every skill is in `keep`, `shorten` or `drop`, in the given order. */
export interface ListingPlan {
  /** Whether everything fits unchanged. */
  readonly fits: boolean
  readonly budget: number
  /** Cost of the unchanged listing (`cost`) and of the plan (`plannedCost`), which never exceeds the budget. */
  readonly cost: number
  readonly plannedCost: number
  readonly keep: (Planned & { readonly cost: number })[]
  /** `description` replaces a longer description; `from` and `to` are the costs of the skill before and after. */
  readonly shorten: (Planned & { readonly from: number; readonly to: number; readonly description: string })[]
  readonly drop: (Planned & { readonly cost: number; readonly reason: string })[]
}

/** The cost that hosts count for a list of skills: names and descriptions. */
export function measureListing(
  skills: readonly ListedSkill[],
  measure: (text: string) => number = countUtf16Units,
): number {
  return skills.reduce((sum, skill) => sum + costOf(skill, measure), 0)
}

/**
 * Fits a list of skills into a budget. The given order is the order of importance and does not change: the longest
 * descriptions are shortened first, all to the same length; if that is not enough, skills are dropped from the end.
 * Throws a TypeError for a negative or invalid budget.
 *
 * @example planListing(pack.skills, 8000).drop.map(({ name }) => name)
 */
export function planListing(skills: readonly ListedSkill[], budget: number, options: PlanOptions = {}): ListingPlan {
  if (!(budget >= 0)) throw new TypeError(`The budget must be a number of at least 0; this one is ${budget}.`)
  const { measure = countUtf16Units, descriptionCharactersMin = 80 } = options
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

function countUtf16Units(text: string): number {
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
    // A token counter may count more tokens for a shorter text.
    return cost < entry.cost ? { ...entry, description, cost } : entry
  })
}

/** How many of the first entries fit into a budget. */
function countFitting(entries: readonly Entry[], budget: number): number {
  let left = budget
  const end = entries.findIndex(({ cost }) => (left -= cost) < 0)
  return end === -1 ? entries.length : end
}

/** Finds the largest length that fits. `lengthMin` must fit. */
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
    if (!entry) plan.drop.push({ index, name, cost: from, reason: toDropReason(index, planned.length) })
    else if (entry.description === skill.description) plan.keep.push({ index, name, cost: from })
    else plan.shorten.push({ index, name, from, to: entry.cost, description: entry.description })
  }
  return plan
}

function toDropReason(index: number, kept: number): string {
  if (kept === 0) return 'Not even the first skill fits into the budget.'
  return index === kept
    ? 'It does not fit after the skills before it.'
    : 'A skill before it does not fit, and the order does not change.'
}

/**
 * Shortens a text to `charactersMax` characters: at the end of a sentence if at least half of the text remains,
 * otherwise after a word, with an ellipsis. Never splits a surrogate pair.
 */
function cutAtSentence(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text
  const end = findSentenceEnd(text, charactersMax)
  if (end >= charactersMax / 2) return text.slice(0, end)
  return charactersMax < 1 ? '' : shortenAtWord(text, charactersMax)
}

/** End of the last whole sentence within `charactersMax` characters; 0 for none. */
function findSentenceEnd(text: string, charactersMax: number): number {
  for (let at = charactersMax - 1; at >= 0; at--) {
    const mark = text[at]!
    if (wideMarks.has(mark) || (marks.has(mark) && /\s/.test(text[at + 1]!) && !endsWithLetters(text, at)))
      return at + 1
  }
  return 0
}

const marks = new Set(['.', '!', '?'])
const wideMarks = new Set(['。', '！', '？'])

/** Whether the full stop follows an abbreviation such as `e.g.` or an initial. */
function endsWithLetters(text: string, at: number): boolean {
  return /(?:^|[\s(.])(?:\p{L}|vs|etc|cf|incl)$/u.test(text.slice(Math.max(0, at - 6), at))
}
