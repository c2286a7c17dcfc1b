import type { LoadedSkill, Omission } from '@skillstead/protocol'
import { createCosts, type Costs } from './costs.ts'
import { listOmissions } from './omissions.ts'
import {
  dividedCharactersMax,
  toGroupLength,
  listContent,
  listRemovable,
  type Group,
  type Removable,
  type Unit,
} from './units.ts'

/** Options of `truncate`. */
export interface TruncateOptions {
  /** Token budget of the content: summary and document, or the contract as JSON at the level `contract`. */
  readonly maxTokens: number
  /** Headings of the sections to keep first, in this order; each includes its subsections. */
  readonly priority?: readonly string[]
  /** Returns the number of tokens of a text, or more; never fewer. */
  countTokens(text: string): number
}

/**
 * Truncates the content of a loaded skill to a budget, and lists what was left out. Removes whole sections, blocks and
 * sentences, never a part of a code fence or a table; under a very small budget the content becomes empty. The
 * remaining parts stay in the order of the document; the priority decides which parts remain. The metadata and the tool
 * definition do not count and stay unchanged.
 *
 * @example
 * truncate(loaded, { maxTokens: 2000, priority: ['Usage'], countTokens })
 */
export function truncate(loaded: LoadedSkill, options: TruncateOptions): LoadedSkill {
  const { maxTokens, priority = [], countTokens } = options
  const content = listContent(loaded)
  const length = content.reduce((sum, text) => sum + text.length, 0)
  const costs = createCosts(content.join(''), countTokens)
  // A text never has more tokens than bytes.
  if (length <= maxTokens && totalBytes(content) <= maxTokens) return loaded
  const isCountable = length <= 2 * dividedCharactersMax
  const isNear = length <= 3 * maxTokens
  if (isCountable && isNear && costs.ofContent(loaded) <= maxTokens) return loaded
  const cut: Cut = { loaded, removable: listRemovable(loaded, priority), costs, maxTokens }
  if (isCountable && !isNear && mayFit(cut) && costs.ofContent(loaded) <= maxTokens) return loaded
  return cutToBudget(cut)
}

function totalBytes(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + new TextEncoder().encode(text).length, 0)
}

interface Cut {
  readonly loaded: LoadedSkill
  readonly removable: Removable
  readonly costs: Costs
  readonly maxTokens: number
}

/** A unit that remains, and its group. */
interface Kept {
  readonly unit: Unit
  readonly group: Group
}

/** Reserve for tokens at the border of two texts; the exact count is checked at the end. */
const jointTokens = 1

/** The longest token of `o200k_base` is a run of this many spaces. */
const tokenCharactersMax = 128

/** Checks a lower bound of the tokens, so that a text that is far too large is not counted as a whole. */
function mayFit({ removable, costs, maxTokens }: Cut): boolean {
  let left = maxTokens
  for (const group of removable.groups) {
    if (toGroupLength(group) > left * tokenCharactersMax) return false
    left -= costs.ofGroup(group) - 3 * jointTokens
    if (left < 0) return false
  }
  return true
}

function cutToBudget(cut: Cut): LoadedSkill {
  const { costs, maxTokens } = cut
  let kept = chooseUnits(cut, maxTokens)
  for (;;) {
    const result = composeTruncated(cut, kept)
    const over = costs.ofContent(result) - maxTokens
    if (over <= 0) return { ...result, truncated: listLeft(cut, kept) }
    kept = dropLast(cut, kept, over)
  }
}

/** Chooses whole groups in order of priority, and the beginning of the first group that does not fit. */
function chooseUnits({ removable, costs }: Cut, tokens: number): Kept[] {
  const kept: Kept[] = []
  let left = tokens
  let isSplit = false
  for (const group of removable.groups) {
    if (left <= jointTokens) break
    // Do not count a text that is far too long.
    const cost = toGroupLength(group) > charactersOf(left) ? Infinity : costs.ofGroup(group) + jointTokens
    const fits = cost <= left
    const units = fits ? group.units : isSplit ? [] : chooseSome(costs, group, left)
    if (units.length === 0) continue
    isSplit ||= !fits
    left -= fits ? cost : costs.ofHeading(group) + units.reduce((sum, unit) => sum + costs.ofUnit(unit), jointTokens)
    for (const unit of units) kept.push({ unit, group })
  }
  return kept
}

/**
 * Chooses the units of a group up to the first that does not fit; code fences and tables that do not fit are skipped.
 */
function chooseSome(costs: Costs, group: Group, tokens: number): Unit[] {
  const units: Unit[] = []
  let left = tokens - costs.ofHeading(group)
  for (const unit of group.units) {
    const cost = unit.text.length > charactersOf(left) ? Infinity : costs.ofUnit(unit) + jointTokens
    if (cost <= left) {
      left -= cost
      units.push(unit)
    } else if (!unit.isApart) break
  }
  return units
}

/** An upper bound that almost no text exceeds: 8 characters per token. */
function charactersOf(tokens: number): number {
  return Math.max(0, tokens) * 8
}

function dropLast({ costs }: Cut, kept: readonly Kept[], over: number): Kept[] {
  let end = kept.length
  for (let freed = 0; end > 0 && freed < over; end--) freed += costs.ofUnit(kept[end - 1]!.unit)
  return kept.slice(0, end)
}

function listLeft({ removable, costs }: Cut, kept: readonly Kept[]): Omission[] {
  return listOmissions(removable, new Set(kept.map(({ unit }) => unit)), costs)
}

function composeTruncated({ loaded }: Cut, kept: readonly Kept[]): LoadedSkill {
  const of = (part: Group['part']) => kept.filter(({ group }) => group.part === part)
  if (loaded.level === 'contract') return of('contract').length > 0 ? loaded : { ...loaded, contract: null }
  return {
    ...loaded,
    ...(loaded.summary !== undefined && { summary: joinBlocks(of('summary')).trimEnd() }),
    ...(loaded.fullContent !== undefined && { fullContent: joinBlocks(of('fullContent')) }),
  }
}

/** Joins the blocks in document order, each section below its heading, with a blank line where a block was left out. */
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

/** Returns the line breaks that are missing for a blank line at the end of a text. */
function toGap(text: string): string {
  if (/(?:\n|\r)[ \t]*(?:\r\n|\n|\r)$/.test(text.slice(-100))) return ''
  return /[\n\r]$/.test(text) ? '\n' : '\n\n'
}
