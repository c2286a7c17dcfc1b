import { Breaks } from './breaks.ts'
import { foldText, type Folded } from './fold.ts'
import { toMatcher, type Match, type Matcher } from './match.ts'
import type { Pattern } from './rule.ts'
import { Spots } from './spots.ts'
import { findWindows, toSoughtNeed, type SoughtNeed, type Window } from './windows.ts'

/** A rule or a fact, as far as it is looked for. */
export interface Probe {
  readonly id: string
  readonly patterns: readonly Pattern[]
}

/** Where something was found in a text. */
export interface Hit extends Match {
  readonly probe: number
  /** A reader does not see it, or does not see what stands inside its words. */
  readonly isHidden: boolean
}

/** How many characters one pattern is tried on in one text; only a text made for it has more that look like a match. */
const triedCharactersMax = 4 * 1024 * 1024
/** What folding made short may be long. */
const rawCharactersMax = 65_536
/** What an expression may look at before a match. */
const contextBefore = 128

interface Sought extends Matcher {
  readonly probe: number
  readonly sought: readonly SoughtNeed[]
}

/** All probes, ready to be looked for at once. It keeps nothing of a text. */
export class Search {
  readonly #matchers: readonly Sought[]
  readonly #spots: Spots
  readonly #breaks = new Breaks()

  constructor(probes: readonly Probe[]) {
    const matchers = probes.flatMap(({ patterns }, probe) => patterns.map((each) => ({ ...toMatcher(each), probe })))
    this.#spots = new Spots(matchers.flatMap(({ needs }) => needs.map((need) => need.map(({ text }) => text))))
    this.#matchers = matchers.map((matcher) => {
      return { ...matcher, sought: matcher.needs.map((need) => toSoughtNeed(need, this.#spots)) }
    })
  }

  /**
   * Everything that the wanted probes find in a text, piece by piece, in the order of their places; between two
   * pieces a caller may rest. `onCut` learns which probe was not tried to the end.
   */
  *find(text: string, isWanted: (probe: number) => boolean, onCut: (probe: number) => void): Generator<Hit[]> {
    const left = new Map<Sought, number>()
    for (const folded of foldText(text)) {
      const hits: Hit[] = []
      this.#spots.read(folded.codes, folded.size)
      this.#breaks.read(folded)
      for (const matcher of this.#matchers) {
        if (this.#spots.count(matcher.sought[0]!.set) === 0 || !isWanted(matcher.probe)) continue
        for (const window of findWindows(matcher, this.#spots, this.#breaks)) {
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

/** To try an expression at one place takes as long as to look through so many characters for it. */
const tryCharacters = 12

/** Where a match may begin first: told by a try of each place, where these are few. */
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
