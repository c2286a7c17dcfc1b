import { Breaks } from './breaks.ts'
import { foldText, type Folded } from './fold.ts'
import { toMatcher, type Match, type Matcher, type SearchTraits } from './match.ts'
import type { Pattern } from './rule.ts'
import { TextPositions } from './text-positions.ts'
import { findWindows, type SoughtNeed, type Window } from './windows.ts'

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
/** Characters that an expression may examine before a match. */
const contextBefore = 128

interface Sought extends Matcher {
  readonly probe: number
  readonly sought: readonly SoughtNeed[]
}

/** All probes, prepared for a simultaneous search. Keeps no data of the texts that it searches. */
export class Search {
  readonly #matchers: readonly Sought[]
  readonly #positions: TextPositions
  readonly #breaks = new Breaks()

  /** `traits`: those of all patterns, in the order of the probes. */
  constructor(probes: readonly Probe[], traits: readonly SearchTraits[]) {
    const patterns = probes.flatMap((each, probe) => each.patterns.map((pattern) => ({ pattern, probe })))
    const matchers = patterns.map(({ pattern, probe }, i) => ({ ...toMatcher(pattern, traits[i]!), probe }))
    this.#positions = new TextPositions(matchers.flatMap(({ needs }) => needs.map(({ texts }) => texts)))
    this.#matchers = matchers.map((matcher) => {
      const { needs } = matcher
      const sought = needs.map(({ texts, distances }) => ({ set: this.#positions.setOf(texts), distances }))
      return { ...matcher, sought }
    })
  }

  /**
   * Yields everything that the wanted probes find in a text, piece by piece, in order of position; the caller may yield
   * between pieces. `onCut` is called for each probe that was not searched to the end.
   */
  *find(text: string, isWanted: (probe: number) => boolean, onCut: (probe: number) => void): Generator<Hit[]> {
    const left = new Map<Sought, number>()
    for (const folded of foldText(text)) {
      const hits: Hit[] = []
      this.#positions.read(folded.codes, folded.size)
      this.#breaks.read(folded)
      for (const matcher of this.#matchers) {
        if (this.#positions.count(matcher.sought[0]!.set) === 0 || !isWanted(matcher.probe)) continue
        for (const window of findWindows(matcher, this.#positions, this.#breaks)) {
          const before = left.get(matcher) ?? triedCharactersMax
          if (before <= 0) break
          const after = before - (window.end - window.start + matcher.aheadMax)
          left.set(matcher, after)
          if (after <= 0) onCut(matcher.probe)
          else tryWindow(matcher, text, folded, window, hits)
        }
      }
      yield hits.toSorted((a, b) => a.start - b.start)
    }
  }
}

/** Trying an expression at one position costs as much as searching this many characters with it. */
const tryCharacters = 12

/** The first position at which a match may begin; if there are few positions, each is tried separately. */
function findBeginning(matcher: Sought, text: string, { start, end, beginnings }: Window): number {
  let tries = 0
  for (const { first, last } of beginnings) tries += last - first + 1
  if (tries * tryCharacters > end - start) return start
  for (const { first, last } of beginnings) {
    for (let at = first; at <= last; at++) if (matcher.mayBegin(text, at)) return at
  }
  return -1
}

function tryWindow(matcher: Sought, text: string, folded: Folded, window: Window, hits: Hit[]): void {
  const { probe, view } = matcher
  const { end } = window
  if (view === 'raw') return tryRaw(matcher, text, folded, window.start, end, hits)
  const start = findBeginning(matcher, folded.text, window)
  if (start === -1) return
  const sliceFrom = Math.max(0, start - contextBefore)
  const slice = folded.text.slice(sliceFrom, end + matcher.aheadMax)
  matcher.find(slice, start - sliceFrom, (matchStart, matchEnd) => {
    const from = sliceFrom + matchStart
    if (from < folded.from || from >= folded.to || from >= end) return
    const to = Math.max(sliceFrom + matchEnd, from + 1)
    const isHidden = folded.hidden.subarray(from, to).includes(1)
    hits.push({ probe, start: folded.offsets[from]!, end: folded.offsets[to - 1]! + 1, isHidden })
  })
}

function tryRaw(matcher: Sought, text: string, folded: Folded, start: number, end: number, hits: Hit[]): void {
  const { probe } = matcher
  const from = folded.offsets[start]!
  const to = Math.min(folded.offsets[Math.min(end + matcher.aheadMax, folded.size) - 1]! + 1, from + rawCharactersMax)
  const fresh = folded.offsets[folded.from]!
  const stale = folded.to === folded.size ? Infinity : folded.offsets[folded.to]!
  matcher.find(text.slice(from, to), 0, (matchStart, matchEnd) => {
    const begun = from + matchStart
    if (begun >= fresh && begun < stale) hits.push({ probe, start: begun, end: from + matchEnd, isHidden: false })
  })
}
