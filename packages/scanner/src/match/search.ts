import { foldText, type Folded } from '../text/fold.ts'
import type { Match } from '../text/spans.ts'
import { toMatcher, type Matcher } from './matcher.ts'
import type { Need } from './read-expression.ts'
import type { Pattern } from './rule.ts'
import { TextFinder } from './text-finder.ts'
import { listTraits, lookCharactersMax, type PatternTraits } from './traits.ts'

/** The searchable part of a rule or a fact. */
export interface Probe {
  readonly id: string
  readonly patterns: readonly Pattern[]
}

/** A match of a probe in a text. */
export interface Hit extends Match {
  readonly probe: number
  /** Whether the match is invisible, or contains invisible characters inside its words. */
  readonly isHidden: boolean
}

/** Maximum number of characters on which a pattern is tried in one text; only a hostile text needs more. */
const triedCharactersMax = 4 * 1024 * 1024
/** Limit for raw text, which may be much longer than its folded form. */
const rawCharactersMax = 65_536

/** A range of a piece, end exclusive. */
interface Window {
  readonly start: number
  end: number
}

/** A need of a pattern, with the numbers of its texts. */
interface SoughtNeed extends Omit<Need, 'texts'> {
  readonly numbers: readonly number[]
}

interface Sought {
  readonly probe: number
  /** Read on first use: a text needs few. */
  readonly getPattern: () => Pattern
  readonly ahead: number
  readonly needs: readonly SoughtNeed[]
  matcher: Matcher | undefined
}

/**
 * All probes, prepared for a simultaneous search: one pass finds the texts that matches need, and each pattern is tried
 * only around them. No character of a text is tried twice by a pattern, except at the cut of two pieces. Keeps no data
 * of the texts that it searches.
 */
export class Search {
  readonly #texts: readonly string[]
  readonly #finder: TextFinder
  /** For each text, the patterns whose rarest need has it. */
  readonly #soughtOf: readonly Sought[][]

  /** `traits`: those of the patterns of each probe. */
  constructor(probes: readonly Probe[], traits: readonly (readonly PatternTraits[])[] = listTraits(probes)) {
    this.#texts = [...new Set(traits.flat().flatMap(({ needs }) => needs.flatMap(({ texts }) => texts)))]
    this.#finder = new TextFinder(this.#texts)
    this.#soughtOf = this.#texts.map(() => [])
    const numberOf = new Map(this.#texts.map((text, number) => [text, number]))
    for (const [probe, of] of probes.entries()) {
      for (const [place, { ahead, needs: listed }] of traits[probe]!.entries()) {
        const needs = listed.map(({ texts, ...need }) => ({
          ...need,
          numbers: [...new Set(texts)].map((text) => numberOf.get(text)!),
        }))
        const getPattern = () => of.patterns[place]!
        const sought: Sought = { probe, getPattern, ahead, needs, matcher: undefined }
        for (const number of needs[0]!.numbers) this.#soughtOf[number]!.push(sought)
      }
    }
  }

  /**
   * Yields everything that the wanted probes find in a text, piece by piece, in order of position; the caller may yield
   * between pieces. `onCut` is called for each probe that was not searched to the end.
   */
  *find(text: string, isWanted: (probe: number) => boolean, onCut: (probe: number) => void): Generator<Hit[]> {
    const triedOf = new Map<Sought, number>()
    for (const folded of foldText(text)) {
      this.#finder.find(folded.codes, folded.size)
      const hits: Hit[] = []
      const candidates = new Set<Sought>()
      for (const number of this.#finder.found) for (const sought of this.#soughtOf[number]!) candidates.add(sought)
      for (const sought of candidates) {
        if (!isWanted(sought.probe) || !sought.needs.every((need) => this.#hasAny(need))) continue
        for (const window of this.#findWindows(sought, folded.size)) {
          const before = triedOf.get(sought) ?? 0
          if (before >= triedCharactersMax) break
          const tried = before + window.end - window.start + sought.ahead
          triedOf.set(sought, tried)
          if (tried >= triedCharactersMax) onCut(sought.probe)
          else tryPattern(sought, text, folded, window, hits)
        }
      }
      yield hits.toSorted((a, b) => a.start - b.start || a.probe - b.probe)
    }
  }

  /** The disjoint ranges of a piece in which a pattern may match, in ascending order. */
  #findWindows({ needs }: Sought, size: number): readonly Window[] {
    return needs.map((need) => this.#listAround(need, size)).reduce(intersect)
  }

  #hasAny({ numbers }: SoughtNeed): boolean {
    return numbers.some((number) => this.#finder.startsOf[number]!.length > 0)
  }

  /** The ranges around the texts of a need in which a match may lie, disjoint and in ascending order. */
  #listAround({ numbers, before, after }: SoughtNeed, size: number): readonly Window[] {
    const windows: Window[] = []
    let found = 0
    for (const number of numbers) {
      const starts = this.#finder.startsOf[number]!
      const { length } = this.#texts[number]!
      if (starts.length > 0) found++
      for (const at of starts)
        windows.push({ start: Math.max(0, at + length - before), end: Math.min(size, at + after) })
    }
    return join(found === 1 ? windows : windows.toSorted((a, b) => a.start - b.start))
  }
}

/** Joins ranges that overlap or touch, in ascending order. */
function join(windows: readonly Window[]): readonly Window[] {
  const disjoint: Window[] = []
  for (const window of windows) {
    const last = disjoint.at(-1)
    if (last && window.start <= last.end) last.end = Math.max(last.end, window.end)
    else disjoint.push(window)
  }
  return disjoint
}

/** The ranges that two lists of disjoint ranges have in common. */
function intersect(some: readonly Window[], others: readonly Window[]): Window[] {
  const both: Window[] = []
  for (let one = 0, other = 0; one < some.length && other < others.length;) {
    const start = Math.max(some[one]!.start, others[other]!.start)
    const end = Math.min(some[one]!.end, others[other]!.end)
    if (start < end) both.push({ start, end })
    if (some[one]!.end < others[other]!.end) one++
    else other++
  }
  return both
}

function tryPattern(sought: Sought, text: string, folded: Folded, window: Window, hits: Hit[]): void {
  const { probe, ahead } = sought
  const pattern = sought.getPattern()
  const matcher = (sought.matcher ??= toMatcher(pattern))
  if ('match' in pattern && pattern.view === 'raw') return tryRaw(sought, matcher, text, folded, window, hits)
  const at = Math.max(0, window.start - lookCharactersMax)
  const part = folded.text.slice(at, window.end + ahead)
  matcher(part, window.start - at, (start, end) => {
    const from = at + start
    if (from < folded.from || from >= folded.to || from >= window.end) return
    const last = Math.max(at + end, from + 1)
    const isHidden = folded.hidden.subarray(from, last).includes(1)
    hits.push({ probe, start: folded.offsets[from]!, end: folded.offsets[last - 1]! + 1, isHidden })
  })
}

function tryRaw(sought: Sought, matcher: Matcher, text: string, folded: Folded, window: Window, hits: Hit[]): void {
  const { probe, ahead } = sought
  const from = folded.offsets[window.start]!
  const last = folded.offsets[Math.min(window.end + ahead, folded.size) - 1]!
  const fresh = folded.offsets[folded.from]!
  const stale = folded.to === folded.size ? Infinity : folded.offsets[folded.to]!
  matcher(text.slice(from, Math.min(last + 1, from + rawCharactersMax)), 0, (start, end) => {
    const begun = from + start
    if (begun >= fresh && begun < stale) hits.push({ probe, start: begun, end: from + end, isHidden: false })
  })
}
