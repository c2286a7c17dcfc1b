import { foldText, type Folded } from '../text/fold.ts'
import type { Match } from '../text/spans.ts'
import { toMatcher, type Matcher } from './matcher.ts'
import type { Need } from './read-expression.ts'
import type { Pattern } from './rule.ts'
import { clear, TextFinder } from './text-finder.ts'
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
/** Maximum characters of raw text to try from the start of a range: raw text may be far longer than folded text. */
const rawCharactersMax = 65_536

/** A range of a piece, end exclusive. */
interface Window {
  readonly start: number
  end: number
}

/** A set of texts, with the numbers of those that the search of the current piece found. */
interface TextSet {
  readonly texts: readonly string[]
  readonly found: number[]
}

interface Sought {
  readonly probe: number
  readonly traits: PatternTraits
  /** The texts of each need; equal needs share a set. */
  readonly sets: readonly TextSet[]
  /** The patterns are read on first use, because a text needs few of them. */
  readonly getPattern: () => Pattern
  matcher?: Matcher
  isRaw?: boolean
}

/**
 * All probes, prepared for a simultaneous search: one pass finds the texts that matches need, and each pattern is tried
 * only around them. No character of a text is tried twice by a pattern, except at the cut of two pieces. Keeps no data
 * of the texts that it searches.
 */
export class Search {
  readonly #sought: readonly Sought[]
  readonly #finder: TextFinder
  readonly #texts: readonly string[]
  /** The sets that contain each text. */
  readonly #setsOf: readonly (readonly TextSet[])[]

  /** `traits` are the traits of the patterns of each probe. */
  constructor(probes: readonly Probe[], traits: readonly (readonly PatternTraits[])[] = listTraits(probes)) {
    const sets = new Map<string, TextSet>()
    const getSet = ({ texts }: Need): TextSet => {
      const key = texts.join('\n')
      const set = sets.get(key) ?? { texts, found: [] }
      sets.set(key, set)
      return set
    }
    this.#sought = probes.flatMap((of, probe) =>
      traits[probe]!.map((own, index) => ({
        probe,
        traits: own,
        sets: own.needs.map(getSet),
        getPattern: () => of.patterns[index]!,
      })),
    )
    const pairs = [...sets.values()].flatMap((set) => [...new Set(set.texts)].map((text) => ({ text, set })))
    const setsOf = Map.groupBy(pairs, ({ text }) => text)
    this.#texts = [...setsOf.keys()]
    this.#setsOf = Array.from(setsOf.values(), (each) => each.map(({ set }) => set))
    this.#finder = new TextFinder(this.#texts)
  }

  /**
   * Yields everything that the wanted probes find in a text, piece by piece, in order of position; the caller may yield
   * between pieces. `onCut` is called for each probe that was not searched to the end.
   */
  *find(text: string, isWanted: (probe: number) => boolean, onCut: (probe: number) => void): Generator<Hit[]> {
    const triedOf = new Map<Sought, number>()
    for (const folded of foldText(text)) {
      this.#findTexts(folded)
      const hits: Hit[] = []
      for (const sought of this.#sought) {
        if (sought.sets.some(({ found }) => found.length === 0) || !isWanted(sought.probe)) continue
        let tried = triedOf.get(sought) ?? 0
        for (const window of this.#findWindows(sought, folded.size)) {
          if (tried >= triedCharactersMax) break
          tried += window.end - window.start + sought.traits.ahead
          if (tried >= triedCharactersMax) onCut(sought.probe)
          else tryPattern(sought, text, folded, window, hits)
        }
        triedOf.set(sought, tried)
      }
      yield hits.toSorted((a, b) => a.start - b.start)
    }
  }

  /** Finds the texts of all sets in a piece, and forgets those of the previous piece. */
  #findTexts({ codes, size }: Folded): void {
    for (const text of this.#finder.found) for (const { found } of this.#setsOf[text]!) clear(found)
    this.#finder.find(codes, size)
    for (const text of this.#finder.found) for (const { found } of this.#setsOf[text]!) found.push(text)
  }

  /** The disjoint ranges of a piece in which a pattern may match, in ascending order. */
  #findWindows({ traits, sets }: Sought, size: number): readonly Window[] {
    return traits.needs.map((need, index) => this.#listAround(sets[index]!, need, size)).reduce(intersectWindows)
  }

  /** The ranges around the texts of a set in which a match may lie, disjoint and in ascending order. */
  #listAround({ found }: TextSet, { before, after }: Need, size: number): Window[] {
    const windows: Window[] = []
    for (const text of found) {
      const { length } = this.#texts[text]!
      for (const at of this.#finder.startsOf[text]!) {
        addWindow(windows, Math.max(0, at + length - before), Math.min(size, at + after))
      }
    }
    if (found.length === 1) return windows
    const disjoint: Window[] = []
    for (const { start, end } of windows.toSorted((a, b) => a.start - b.start)) addWindow(disjoint, start, end)
    return disjoint
  }
}

/** Adds a range to a list of which it overlaps at most the last range. */
function addWindow(windows: Window[], start: number, end: number): void {
  const last = windows.at(-1)
  if (last && start <= last.end && start >= last.start) last.end = Math.max(last.end, end)
  else windows.push({ start, end })
}

function intersectWindows(some: readonly Window[], others: readonly Window[]): Window[] {
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
  const { probe, traits } = sought
  if (!sought.matcher) {
    const pattern = sought.getPattern()
    sought.isRaw = 'match' in pattern && pattern.view === 'raw'
    sought.matcher = toMatcher(pattern)
  }
  const { matcher } = sought
  if (sought.isRaw) return tryRaw(sought, matcher, text, folded, window, hits)
  const at = Math.max(0, window.start - lookCharactersMax)
  const part = folded.text.slice(at, window.end + traits.ahead)
  matcher(part, window.start - at, (start, end) => {
    const from = at + start
    if (from < folded.from || from >= folded.to || from >= window.end) return
    const last = Math.max(at + end, from + 1)
    const isHidden = folded.hidden.subarray(from, last).includes(1)
    hits.push({ probe, start: folded.offsets[from]!, end: folded.offsets[last - 1]! + 1, isHidden })
  })
}

function tryRaw(sought: Sought, matcher: Matcher, text: string, folded: Folded, window: Window, hits: Hit[]): void {
  const { probe, traits } = sought
  const from = folded.offsets[window.start]!
  const last = folded.offsets[Math.min(window.end + traits.ahead, folded.size) - 1]!
  const fresh = folded.offsets[folded.from]!
  const stale = folded.to === folded.size ? Infinity : folded.offsets[folded.to]!
  matcher(text.slice(from, Math.min(last + 1, from + rawCharactersMax)), 0, (start, end) => {
    const begun = from + start
    if (begun >= fresh && begun < stale) hits.push({ probe, start: begun, end: from + end, isHidden: false })
  })
}
