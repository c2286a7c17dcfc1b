import { anchorCharactersMin } from '../text/anchors.ts'
import { areComplete, joinBeginnings, limitBeginnings, openBeginning } from './beginnings.ts'
import { toRarity } from './rarity.ts'

/** What a match may contain: no line end, line ends, or also ends of passages (U+E000). */
export const crossings = ['nothing', 'lines', 'passages'] as const
export type Crossing = (typeof crossings)[number]

/** A lower-case text in a match, with its distance from the ends of the match. */
interface NeededText {
  readonly text: string
  /** Maximum number of characters of the match before the end of the text, and after its beginning. */
  readonly before: number
  readonly behind: number
  /**
   * How much of the text may lie outside of the match: nothing for a text from the expression, nearly all for an
   * anchor.
   */
  readonly outside?: number
}

/** Texts of which every match of an expression contains one, within the given distances. */
export type Need = readonly NeededText[]

/** A part of an expression: its maximum width, what it may cross, and the texts that its matches contain. */
export interface Part {
  readonly width: number
  /** An index of {@link crossings}. */
  readonly crosses: number
  readonly needs: readonly Need[]
  /** All texts that the part matches, if they are few; the part then has no other needs. */
  readonly exact?: readonly string[]
  /** The first characters of its matches (see `Beginnings`). */
  readonly begins: readonly string[]
}

/** With more texts than this, one of them occurs almost everywhere. */
const textsMax = 100
/** Maximum number of texts that a part is expanded to, and of combinations of two parts. */
const exactMax = 16
const productMax = 6
/** Number of needs that an alternation keeps. */
const sharedNeedsMax = 3

/** A part that matches the empty text. */
export const nothing: Part = { width: 0, crosses: 0, needs: [], exact: [''], begins: [''] }

/** A part that matches exactly one text. */
export function toText(text: string): Part {
  return { width: text.length, crosses: toCrossing(text), needs: [], exact: [text], begins: [text] }
}

/** A part that matches one of some characters. */
export function toCharacters(characters: readonly string[]): Part {
  return { width: 1, crosses: toCrossing(characters.join('')), needs: [], exact: characters, begins: characters }
}

function toCrossing(text: string): number {
  if (text.includes('\uE000')) return 2
  return text.includes('\n') ? 1 : 0
}

/** A part that repeats `least` to `most` times. */
export function repeat(part: Part, least: number, most: number): Part {
  const { width, crosses, exact } = part
  const first = most === 1 ? part.begins : part.begins.map(openBeginning)
  const begins = least === 0 ? ['', ...first] : first
  if (least === 0) {
    const all = width === 0 ? 0 : width * most
    if (most === 1 && exact) return { width, crosses, needs: [], exact: [...new Set(['', ...exact])], begins }
    return { width: all, crosses, needs: [], begins }
  }
  const more = width === 0 ? 0 : width * (most - 1)
  return { width: width + more, crosses, needs: toNeedsOf(part).map((need) => spread(need, more, more)), begins }
}

/** All needs of a part. */
export function toNeedsOf({ needs, exact }: Part): readonly Need[] {
  return exact ? toNeedOf(exact, 0, 0) : needs
}

/**
 * The need of a part that matches one of some texts, with the given number of characters of the match before and after
 * it.
 */
function toNeedOf(texts: readonly string[], before: number, behind: number): Need[] {
  if (texts.some(({ length }) => length < anchorCharactersMin)) return []
  if (texts.length === 1) {
    const text = texts[0]!
    return [[{ text, before: before + text.length, behind: behind + text.length }]]
  }
  // A text that contains another is found together with it.
  const least = texts.filter((text) => !texts.some((other) => other !== text && text.includes(other)))
  const all = texts.map((whole) => {
    const text = least.find((each) => whole.includes(each))!
    const at = whole.indexOf(text)
    return { text, before: before + at + text.length, behind: behind + whole.length - at }
  })
  return [unite(all)]
}

/** Converts the distances of a part's need to those of the surrounding expression. */
export function spread(need: Need, before: number, behind: number): Need {
  return need.map((each) => ({ text: each.text, before: each.before + before, behind: each.behind + behind }))
}

/** A sequence of parts. Adjacent parts with known texts are expanded together. */
export function chain(parts: readonly Part[]): Part {
  const total = parts.reduce((sum, { width }) => sum + width, 0)
  const crosses = toWidest(parts)
  const needs: Need[] = []
  let at = 0
  let run: readonly string[] = ['']
  let runAt = 0
  for (const part of parts) {
    const { exact } = part
    if (exact && isFew(run.length, exact.length)) run = run.flatMap((text) => exact.map((each) => text + each))
    else {
      needs.push(...toNeedOf(run, runAt, total - at))
      for (const need of part.needs) needs.push(spread(need, at, total - at - part.width))
      run = exact ?? ['']
      runAt = exact ? at : at + part.width
    }
    at += part.width
  }
  const begins = joinAll(parts)
  if (runAt === 0 && parts.every(({ exact }) => exact)) return { width: total, crosses, needs: [], exact: run, begins }
  return { width: total, crosses, needs: [...needs, ...toNeedOf(run, runAt, 0)], begins }
}

function joinAll(parts: readonly Part[]): readonly string[] {
  let joined = nothing.begins
  for (const { begins } of parts) {
    joined = joinBeginnings(joined, begins)
    if (areComplete(joined)) break
  }
  return joined
}

function toWidest(parts: readonly Part[]): number {
  return parts.reduce((most, { crosses }) => Math.max(most, crosses), 0)
}

function isFew(some: number, others: number): boolean {
  return some === 1 || others === 1 || some * others <= productMax
}

/** An alternation of parts; its texts are known if those of all parts are. */
export function choose(parts: readonly Part[]): Part {
  const crosses = toWidest(parts)
  const width = Math.max(...parts.map((part) => part.width))
  const begins = limitBeginnings(parts.flatMap((part) => part.begins))
  if (parts.every((part) => part.exact)) {
    const exact = [...new Set(parts.flatMap((part) => part.exact!))]
    if (exact.length <= exactMax) return { width, crosses, needs: [], exact, begins }
  }
  return { width, crosses, needs: join(parts.map(toNeedsOf)), begins }
}

/** Needs of an alternation: a need of the first part or one of the second, the rarest first. */
function join(parts: readonly (readonly Need[])[]): readonly Need[] {
  const sorted = parts.map((needs) => needs.toSorted((a, b) => toRarityOf(b) - toRarityOf(a)))
  const count = Math.min(sharedNeedsMax, ...sorted.map(({ length }) => length))
  const joined = Array.from({ length: count }, (_, index) => unite(sorted.flatMap((needs) => needs[index]!)))
  return joined.filter(({ length }) => length <= textsMax)
}

/** Each text once, with the greatest distances. */
function unite(texts: Need): Need {
  const byText = new Map<string, NeededText>()
  for (const { text, before, behind } of texts) {
    const other = byText.get(text)
    byText.set(text, {
      text,
      before: Math.max(before, other?.before ?? 0),
      behind: Math.max(behind, other?.behind ?? 0),
    })
  }
  return [...byText.values()]
}

function toRarityOf(need: Need): number {
  return Math.min(...need.map(({ text }) => toRarity(text)))
}
