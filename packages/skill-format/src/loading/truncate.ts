import type { LoadedSkill, Omission } from '@skillstead/protocol'
import { createCosts, type Costs } from './costs.ts'
import { listOmissions } from './omissions.ts'
import {
  dividedCharactersMax,
  lengthOf,
  listContent,
  listRemovable,
  type Group,
  type Removable,
  type Unit,
} from './units.ts'

export interface TruncateOptions {
  /** The tokens that the content may have: summary and document, or the contract as JSON at the level `contract`. */
  readonly maxTokens: number
  /** The sections to keep first, by their headings, in this order; each with the sections below it. */
  readonly priority?: readonly string[]
  /** The tokens of a text, or more, never fewer. */
  countTokens(text: string): number
}

/**
 * Leaves out of the content of a loaded skill what a budget has no room for, and says what: whole sections and blocks,
 * never a part of a code fence or a table, down to empty content. What is kept stands in the order of the document; the
 * priority decides what is kept. Metadata and tool definition do not count and stay as they are.
 *
 * @example
 * truncate(loaded, { maxTokens: 2000, priority: ['Usage'], countTokens })
 */
export function truncate(loaded: LoadedSkill, options: TruncateOptions): LoadedSkill {
  const { maxTokens, priority = [], countTokens } = options
  const content = listContent(loaded)
  const length = content.reduce((sum, text) => sum + text.length, 0)
  const costs = createCosts(content.join(''), countTokens)
  // No text has more tokens than bytes.
  if (length <= maxTokens && bytesOf(content) <= maxTokens) return loaded
  const isCountable = length <= 2 * dividedCharactersMax
  const isNear = length <= 3 * maxTokens
  if (isCountable && isNear && costs.ofContent(loaded) <= maxTokens) return loaded
  const cut: Cut = { loaded, removable: listRemovable(loaded, priority), costs, maxTokens }
  if (isCountable && !isNear && mayFit(cut) && costs.ofContent(loaded) <= maxTokens) return loaded
  return cutToBudget(cut)
}

function bytesOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + new TextEncoder().encode(text).length, 0)
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
  const { costs, maxTokens } = cut
  let kept = choose(cut, maxTokens)
  for (;;) {
    const result = build(cut, kept)
    const over = costs.ofContent(result) - maxTokens
    if (over <= 0) return { ...result, truncated: listLeft(cut, kept) }
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
    left -= fits ? cost : costs.ofHeading(group) + units.reduce((sum, unit) => sum + costs.ofUnit(unit), jointTokens)
    for (const unit of units) kept.push({ unit, group })
  }
  return kept
}

/** The units of a group up to the first that does not fit; fences and tables that do not are passed over. */
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

/** Hardly a text has so many characters in its tokens. */
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

function build({ loaded }: Cut, kept: readonly Kept[]): LoadedSkill {
  const of = (part: Group['part']) => kept.filter(({ group }) => group.part === part)
  if (loaded.level === 'contract') return of('contract').length > 0 ? loaded : { ...loaded, contract: null }
  return {
    ...loaded,
    ...(loaded.summary !== undefined && { summary: of('summary')[0]?.unit.text ?? '' }),
    ...(loaded.fullContent !== undefined && { fullContent: joinBlocks(of('fullContent')) }),
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
