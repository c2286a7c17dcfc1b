import { Beginnings } from './beginnings.ts'
import { Breaks } from './breaks.ts'
import { foldText, pieceCharactersMax, type Folded } from '../text/fold.ts'
import { toMatcher, type Matcher, type SearchTraits } from './match.ts'
import { type Match } from '../text/spans.ts'
import type { Pattern } from './rule.ts'
import { listNeeds, readKind, readNeed, type SearchTables } from './search-tables.ts'
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

/** A pattern that is tried where all its needs occur. */
interface Sought extends Omit<SearchTraits, 'needs'> {
  readonly probe: number
  readonly sought: readonly SoughtNeed[]
  readonly getMatcher: () => Matcher
}

/** All probes, prepared for a simultaneous search. Keeps no data of the texts that it searches. */
export class Search {
  readonly #probes: readonly Probe[]
  readonly #tables: SearchTables
  /** The patterns that were tried. */
  readonly #sought: (Sought | undefined)[]
  readonly #positions: TextPositions
  readonly #breaks = new Breaks()
  readonly #beginnings = new Beginnings(pieceCharactersMax)

  /** `tables`: those of the patterns of the probes, in their order. */
  constructor(probes: readonly Probe[], tables: SearchTables) {
    this.#probes = probes
    this.#tables = tables
    this.#sought = Array.from(tables.kinds, () => undefined)
    this.#positions = new TextPositions(tables)
  }

  /**
   * Yields everything that the wanted probes find in a text, piece by piece, in order of position; the caller may yield
   * between pieces. `onCut` is called for each probe that was not searched to the end.
   */
  *find(text: string, isWanted: (probe: number) => boolean, onCut: (probe: number) => void): Generator<Hit[]> {
    const { patternsFrom } = this.#tables
    const left = new Map<Sought, number>()
    for (const folded of foldText(text)) {
      const hits: Hit[] = []
      this.#positions.read(folded.codes, folded.size)
      this.#breaks.read(folded)
      this.#beginnings.read(folded.codes, folded.size)
      for (let probe = 0; probe < this.#probes.length; probe++) {
        for (let pattern = patternsFrom[probe]!; pattern < patternsFrom[probe + 1]!; pattern++) {
          if (!this.#hasNeeds(pattern)) continue
          if (!isWanted(probe)) break
          const sought = (this.#sought[pattern] ??= this.#seek(probe, pattern))
          for (const window of findWindows(sought, this.#positions, this.#breaks)) {
            const before = left.get(sought) ?? triedCharactersMax
            if (before <= 0) break
            const after = before - (window.end - window.start + sought.aheadMax)
            left.set(sought, after)
            if (after <= 0) onCut(probe)
            else this.#try(sought, text, folded, window, hits)
          }
        }
      }
      yield hits.toSorted((a, b) => a.start - b.start)
    }
  }

  /** Whether the piece contains a text of each need. */
  #hasNeeds(pattern: number): boolean {
    const { needsFrom, needs } = this.#tables
    const to = needsFrom[pattern + 1]!
    for (let need = needsFrom[pattern]!; need < to; need++) if (this.#positions.count(needs[need]!) === 0) return false
    return true
  }

  #try(sought: Sought, text: string, folded: Folded, { start, end }: Window, hits: Hit[]): void {
    const { probe, view, aheadMax } = sought
    if (view === 'raw') return tryRaw(sought, text, folded, { start, end }, hits)
    const matcher = sought.getMatcher()
    const beginnings = this.#beginnings
    const to = Math.min(end + aheadMax, folded.size)
    const begin = matcher.first.seek(beginnings, start, to)
    if (begin >= to) return
    const at = Math.max(0, start - contextBefore)
    matcher.find({ text: folded.text.slice(at, to), at, beginnings }, begin - at, (matchStart, matchEnd) => {
      const from = at + matchStart
      if (from < folded.from || from >= folded.to || from >= end) return
      const last = Math.max(at + matchEnd, from + 1)
      const isHidden = folded.hidden.subarray(from, last).includes(1)
      hits.push({ probe, start: folded.offsets[from]!, end: folded.offsets[last - 1]! + 1, isHidden })
    })
  }

  #seek(probe: number, pattern: number): Sought {
    const tables = this.#tables
    const sought = listNeeds(tables, pattern).map((need) => readNeed(tables, need))
    let matcher: Matcher | undefined
    // Most patterns whose needs occur in a text have no window in it.
    const getMatcher = () =>
      (matcher ??= toMatcher(this.#probes[probe]!.patterns[pattern - tables.patternsFrom[probe]!]!))
    return { ...readKind(tables, pattern), probe, sought, getMatcher }
  }
}

function tryRaw(sought: Sought, text: string, folded: Folded, { start, end }: Window, hits: Hit[]): void {
  const { probe, aheadMax } = sought
  const from = folded.offsets[start]!
  const to = Math.min(folded.offsets[Math.min(end + aheadMax, folded.size) - 1]! + 1, from + rawCharactersMax)
  const fresh = folded.offsets[folded.from]!
  const stale = folded.to === folded.size ? Infinity : folded.offsets[folded.to]!
  sought.getMatcher().find({ text: text.slice(from, to), at: 0, beginnings: undefined }, 0, (matchStart, matchEnd) => {
    const begun = from + matchStart
    if (begun >= fresh && begun < stale) hits.push({ probe, start: begun, end: from + matchEnd, isHidden: false })
  })
}
