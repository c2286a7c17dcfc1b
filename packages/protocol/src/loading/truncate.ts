import { RegistryError } from '../errors.ts'
import type { LoadedSkill, Omission } from '../schemas/loading.ts'
import { createCosts, type Costs } from './costs.ts'
import { toNamed } from './levels.ts'
import { listOmissions } from './omissions.ts'
import { dividedCharactersMax, lengthOf, listRemovable, type Group, type Removable, type Unit } from './units.ts'

export interface TruncateOptions {
  /** The tokens that the whole answer may have as JSON. */
  readonly maxTokens: number
  /** The sections to keep first, by their headings, in this order; each with the sections below it. */
  readonly priority?: readonly string[]
  /** The tokens of a text, or more, never fewer. */
  countTokens(text: string): number
}

/**
 * Leaves out of a loaded skill what a budget has no room for, and says what: whole sections and blocks, never a part of a
 * code fence or a table. What is kept stands in the order of the document; the priority decides what is kept. Metadata,
 * contract and tool definition are never touched: throws `invalid_request` where these alone are too many tokens.
 *
 * @example
 * truncate(loaded, { maxTokens: 2000, priority: ['Usage'], countTokens })
 */
export function truncate(loaded: LoadedSkill, options: TruncateOptions): LoadedSkill {
  const { maxTokens, priority = [], countTokens } = options
  const whole = JSON.stringify(loaded)
  // No text has more tokens than bytes.
  if (whole.length <= maxTokens && new TextEncoder().encode(whole).length <= maxTokens) return loaded
  const isCountable = whole.length <= 2 * dividedCharactersMax
  const isNear = whole.length <= 3 * maxTokens
  if (isCountable && isNear && countTokens(whole) <= maxTokens) return loaded
  const costs = createCosts(whole, countTokens)
  const cut: Cut = { loaded, removable: listRemovable(loaded, priority), costs, maxTokens }
  if (isCountable && !isNear && mayFit(cut) && countTokens(whole) <= maxTokens) return loaded
  return cutToBudget(cut)
}

interface Cut {
  readonly loaded: LoadedSkill
  readonly removable: Removable
  readonly costs: Costs
  readonly maxTokens: number
}

/** A unit that is kept, and the group that it stands in. */
interface Kept {
  readonly unit: Unit
  readonly group: Group
}

/** Room for what tokens of two texts cost more side by side; what comes of it is counted in the end. */
const jointTokens = 1

/** The longest token of `o200k_base` is so many spaces. */
const tokenCharactersMax = 128

/** A bound from below by what the parts cost, so that what is far too large is not counted as a whole as well. */
function mayFit({ removable, costs, maxTokens }: Cut): boolean {
  let left = maxTokens
  for (const group of removable.groups) {
    if (lengthOf(group) > left * tokenCharactersMax) return false
    left -= costs.ofGroup(group) - 3 * jointTokens
    if (left < 0) return false
  }
  return true
}

function cutToBudget(cut: Cut): LoadedSkill {
  const { loaded, costs, maxTokens } = cut
  const least = build(cut, [], 0)
  const leastTokens = costs.ofJson(least)
  if (leastTokens > maxTokens)
    throw tooSmall(isSmall(loaded, least) ? Math.min(leastTokens, costs.ofJson(loaded)) : leastTokens)
  const oneRow = costs.ofJson(least.truncated)
  // A tenth of the budget may tell what was left out.
  const rowsMax = Math.max(oneRow, Math.floor(maxTokens / 10))
  const room = maxTokens - (leastTokens - oneRow)
  const reserve = costs.ofJson(listLeft(cut, [], rowsMax))
  const first = choose(cut, room - reserve)
  const needed = costs.ofJson(listLeft(cut, first, rowsMax))
  let kept = needed < reserve ? choose(cut, room - needed) : first
  for (;;) {
    const result = kept.length > 0 ? build(cut, kept, rowsMax) : least
    const over = costs.ofJson(result) - maxTokens
    if (over <= 0) return result
    kept = dropLast(cut, kept, over)
  }
}

/** Groups that fit whole, one after the other, and the beginning of the first one that does not. */
function choose({ removable, costs }: Cut, tokens: number): Kept[] {
  const kept: Kept[] = []
  let left = tokens
  let isSplit = false
  for (const group of removable.groups) {
    if (left <= jointTokens) break
    // What is far too long is not counted.
    const cost = lengthOf(group) > charactersOf(left) ? Infinity : costs.ofGroup(group) + jointTokens
    const fits = cost <= left
    const units = fits ? group.units : isSplit ? [] : chooseSome(costs, group, left)
    if (units.length === 0) continue
    isSplit ||= !fits
    left -= fits
      ? cost
      : costs.ofHeading(group) + units.reduce((sum, unit) => sum + costs.ofUnit(group, unit), jointTokens)
    for (const unit of units) kept.push({ unit, group })
  }
  return kept
}

/** The units of a group up to the first that does not fit; fences and tables that do not are passed over. */
function chooseSome(costs: Costs, group: Group, tokens: number): Unit[] {
  const units: Unit[] = []
  let left = tokens - costs.ofHeading(group)
  for (const unit of group.units) {
    const cost = unit.text.length > charactersOf(left) ? Infinity : costs.ofUnit(group, unit) + jointTokens
    if (cost <= left) {
      left -= cost
      units.push(unit)
    } else if (!unit.isApart) break
  }
  return units
}

/** Hardly a text has so many characters in its tokens. */
function charactersOf(tokens: number): number {
  return Math.max(0, tokens) * 8
}

function dropLast({ costs }: Cut, kept: readonly Kept[], over: number): Kept[] {
  let end = kept.length
  for (let freed = 0; end > 0 && freed < over; end--) freed += costs.ofUnit(kept[end - 1]!.group, kept[end - 1]!.unit)
  return kept.slice(0, end)
}

function listLeft({ removable, costs }: Cut, kept: readonly Kept[], rowsMax: number): Omission[] {
  return listOmissions(removable, new Set(kept.map(({ unit }) => unit)), { tokensMax: rowsMax, costs })
}

function build(cut: Cut, kept: readonly Kept[], rowsMax: number): LoadedSkill {
  const { loaded } = cut
  const of = (part: Group['part']) => kept.filter(({ group }) => group.part === part)
  return {
    ...loaded,
    ...(loaded.capabilities && { capabilities: of('capabilities').map(({ unit }) => unit.text) }),
    ...(loaded.summary !== undefined && { summary: of('summary')[0]?.unit.text ?? '' }),
    ...(loaded.fullContent !== undefined && { fullContent: joinBlocks(of('fullContent')) }),
    frontmatter: of('frontmatter').length > 0 ? loaded.frontmatter : toNamed(loaded.frontmatter),
    truncated: listLeft(cut, kept, rowsMax),
  }
}

/** The blocks as they stood, each section under its heading; a blank line where something between is gone. */
function joinBlocks(kept: readonly Kept[]): string {
  const pieces: string[] = []
  let last: Kept | undefined
  for (const { unit, group } of kept.toSorted((a, b) => a.unit.place - b.unit.place)) {
    if (last && last.unit.place + 1 !== unit.place) pieces.push(toGap(last.group.heading + last.unit.text))
    pieces.push(group === last?.group ? '' : group.heading, unit.text)
    last = { unit, group }
  }
  return pieces.join('')
}

/** What makes the end of a text a blank line. */
function toGap(text: string): string {
  if (/(?:\n|\r)[ \t]*(?:\r\n|\n|\r)$/.test(text.slice(-100))) return ''
  return /[\n\r]$/.test(text) ? '\n' : '\n\n'
}

/** To say what little was left out can take more than that itself. */
function isSmall(loaded: LoadedSkill, least: LoadedSkill): boolean {
  return JSON.stringify(loaded).length <= JSON.stringify(least).length
}

function tooSmall(tokensMin: number): RegistryError {
  const message = `must be at least ${tokensMin} for this skill at this level`
  return new RegistryError('invalid_request', `maxTokens ${message}.`, { errors: [{ path: 'maxTokens', message }] })
}
