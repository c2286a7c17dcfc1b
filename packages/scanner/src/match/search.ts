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

interface Sought {
  readonly probe: number
  readonly traits: PatternTraits
  /** For each need, the number that identifies its set of texts. */
  readonly sets: readonly number[]
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
  readonly #sets = new TextSets()

  /** `traits` are the traits of the patterns of each probe. */
  constructor(probes: readonly Probe[], traits: readonly (readonly PatternTraits[])[] = listTraits(probes)) {
    this.#sought = probes.flatMap((of, probe) =>
      traits[probe]!.map((own, index) => ({
        probe,
        getPattern: () => of.patterns[index]!,
        traits: own,
        sets: own.needs.map(({ texts }) => this.#sets.add(texts)),
      })),
    )
    this.#sets.prepare()
  }

  /**
   * Yields everything that the wanted probes find in a text, piece by piece, in order of position; the caller may yield
   * between pieces. `onCut` is called for each probe that was not searched to the end.
   */
  *find(text: string, isWanted: (probe: number) => boolean, onCut: (probe: number) => void): Generator<Hit[]> {
    const triedOf = new Map<Sought, number>()
    for (const folded of foldText(text)) {
      this.#sets.find(folded)
      const hits: Hit[] = []
      for (const sought of this.#sought) {
        if (!this.#sets.haveAll(sought.sets) || !isWanted(sought.probe)) continue
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

  /** The disjoint ranges of a piece in which a pattern may match, in ascending order. */
  #findWindows({ traits, sets }: Sought, size: number): readonly Window[] {
    return traits.needs.map((need, index) => this.#sets.listAround(sets[index]!, need, size)).reduce(intersectWindows)
  }
}

/** Sets of texts, and the places of these texts in the last searched piece of a text. */
class TextSets {
  readonly #numbers = new Map<string, number>()
  /** The sets that contain each text. */
  readonly #setsOf = new Map<string, number[]>()
  #finder = new TextFinder([])
  #setsOfFound: readonly (readonly number[])[] = []
  #lengths: readonly number[] = []
  /** For each set, its texts that the finder found. */
  #members: readonly number[][] = []
  /** The sets with members. Clearing all sets takes longer than searching a short text. */
  readonly #touched: number[] = []

  /** Returns the number of a set, which equal sets share. */
  add(texts: readonly string[]): number {
    const key = texts.join('\n')
    const known = this.#numbers.get(key)
    if (known !== undefined) return known
    const number = this.#numbers.size
    this.#numbers.set(key, number)
    for (const text of new Set(texts)) {
      const others = this.#setsOf.get(text)
      if (others) others.push(number)
      else this.#setsOf.set(text, [number])
    }
    return number
  }

  /** Call after all sets were added. */
  prepare(): void {
    this.#finder = new TextFinder([...this.#setsOf.keys()])
    this.#setsOfFound = [...this.#setsOf.values()]
    this.#lengths = Array.from(this.#setsOf.keys(), ({ length }) => length)
    this.#members = Array.from(this.#numbers, () => [])
  }

  /** Searches a piece, and forgets what was found in the previous piece. */
  find({ codes, size }: Folded): void {
    for (const set of this.#touched) clear(this.#members[set]!)
    clear(this.#touched)
    this.#finder.find(codes, size)
    for (const text of this.#finder.found)
      for (const set of this.#setsOfFound[text]!) if (this.#members[set]!.push(text) === 1) this.#touched.push(set)
  }

  haveAll(sets: readonly number[]): boolean {
    return sets.every((set) => this.#members[set]!.length > 0)
  }

  /** The ranges around the texts of a set in which a match may lie, disjoint and in ascending order. */
  listAround(set: number, { before, after }: Need, size: number): Window[] {
    const windows: Window[] = []
    for (const text of this.#members[set]!) {
      const length = this.#lengths[text]!
      for (const at of this.#finder.startsOf[text]!) {
        addWindow(windows, Math.max(0, at + length - before), Math.min(size, at + after))
      }
    }
    if (this.#members[set]!.length === 1) return windows
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
