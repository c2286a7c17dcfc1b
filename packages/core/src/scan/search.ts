import { AnchorTable } from './anchors.ts'
import { foldText, type Folded } from './fold.ts'
import { toMatcher, type Match, type Matcher } from './match.ts'
import type { Pattern } from './rule.ts'

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

/** All probes, ready to be looked for at once. It keeps nothing of a text. */
export class Search {
  readonly #matchers: readonly Matcher[]
  /** The probe of each matcher. */
  readonly #probes: readonly number[]
  readonly #anchors: AnchorTable

  constructor(probes: readonly Probe[]) {
    const all = probes.flatMap(({ patterns }, probe) => patterns.map((pattern) => ({ pattern, probe })))
    this.#matchers = all.map(({ pattern }) => toMatcher(pattern))
    this.#probes = all.map(({ probe }) => probe)
    // The owners are the matchers, and then what each of them needs first, and second.
    const needs = [0, 1].flatMap((index) => this.#matchers.map((matcher) => matcher.needs[index] ?? []))
    this.#anchors = new AnchorTable([...all.map(({ pattern }) => pattern.anchors), ...needs])
  }

  /**
   * Everything that the wanted probes find in a text, piece by piece, in no order within a piece; between two pieces a
   * caller may rest. `onCut` learns which probe was not tried to the end.
   */
  *find(text: string, isWanted: (probe: number) => boolean, onCut: (probe: number) => void): Generator<Hit[]> {
    const wanted = this.#probes.map(isWanted)
    const left = new Float64Array(this.#matchers.length).fill(triedCharactersMax)
    const windows = new Windows(this.#matchers, wanted)
    for (const folded of foldText(text)) {
      const hits: Hit[] = []
      this.#anchors.find(folded.codes, folded.size, windows.add)
      for (const [matcher, start, end] of windows.take(folded.size)) {
        if (left[matcher]! <= 0) continue
        left[matcher]! -= end - start
        if (left[matcher]! <= 0) onCut(this.#probes[matcher]!)
        else this.#try(matcher, text, folded, start, end, hits)
      }
      yield hits
    }
  }

  #try(index: number, text: string, folded: Folded, start: number, end: number, hits: Hit[]): void {
    const probe = this.#probes[index]!
    const { view, find } = this.#matchers[index]!
    if (view === 'raw') return this.#tryRaw(index, text, folded, start, end, hits)
    find(folded.text.slice(start, end), (matchStart, matchEnd) => {
      const from = start + matchStart
      if (from < folded.from || from >= folded.to) return
      const to = Math.max(start + matchEnd, from + 1)
      const isHidden = folded.hidden.subarray(from, to).includes(1)
      hits.push({ probe, start: folded.offsets[from]!, end: folded.offsets[to - 1]! + 1, isHidden })
    })
  }

  #tryRaw(index: number, text: string, folded: Folded, start: number, end: number, hits: Hit[]): void {
    const probe = this.#probes[index]!
    const from = folded.offsets[start]!
    const to = Math.min(folded.offsets[end - 1]! + 1, from + rawCharactersMax)
    const fresh = folded.offsets[folded.from]!
    const stale = folded.to === folded.size ? Infinity : folded.offsets[folded.to]!
    this.#matchers[index]!.find(text.slice(from, to), (matchStart, matchEnd) => {
      const begun = from + matchStart
      if (begun >= fresh && begun < stale) hits.push({ probe, start: begun, end: from + matchEnd, isHidden: false })
    })
  }
}

/** What folding made short may be long. */
const rawCharactersMax = 65_536

/** What a look-behind may see before a match, or a look-ahead behind it. */
const marginCharacters = 32

/** The stretches of a piece that each matcher is tried on: around its anchors, and joined where they meet. */
class Windows {
  readonly #matchers: readonly Matcher[]
  readonly #wanted: readonly boolean[]
  readonly #starts: Int32Array
  readonly #ends: Int32Array
  /** For both needs of each matcher: where one was seen last, and whether one was seen in the stretch that is open. */
  readonly #seenAt: Int32Array
  readonly #isSeen: Uint8Array
  #touched: number[] = []
  #closed: (readonly [matcher: number, start: number, end: number])[] = []

  constructor(matchers: readonly Matcher[], wanted: readonly boolean[]) {
    this.#matchers = matchers
    this.#wanted = wanted
    this.#starts = new Int32Array(matchers.length)
    this.#ends = new Int32Array(matchers.length).fill(-1)
    this.#seenAt = new Int32Array(2 * matchers.length).fill(-1)
    this.#isSeen = new Uint8Array(2 * matchers.length)
  }

  readonly add = (owner: number, end: number): void => {
    const count = this.#matchers.length
    if (owner >= count) this.#addNeed(owner - count, end)
    else if (this.#wanted[owner]) this.#addAnchor(owner, end)
  }

  #addNeed(need: number, end: number): void {
    this.#seenAt[need] = end
    const matcher = need % this.#matchers.length
    // It may begin in the stretch and end behind it, but not by more than the margin.
    if (end <= this.#ends[matcher]! + marginCharacters) this.#isSeen[need] = 1
  }

  #addAnchor(matcher: number, anchorEnd: number): void {
    const { beforeMax, behindMax } = this.#matchers[matcher]!
    const start = anchorEnd - beforeMax - marginCharacters
    if (this.#ends[matcher]! < 0) this.#touched.push(matcher)
    if (this.#ends[matcher]! < start) {
      this.#close(matcher)
      this.#starts[matcher] = Math.max(0, start)
    }
    for (const need of [matcher, matcher + this.#matchers.length]) {
      if (this.#seenAt[need]! > this.#starts[matcher]!) this.#isSeen[need] = 1
    }
    this.#ends[matcher] = anchorEnd + behindMax + marginCharacters
  }

  /** The stretches of a piece of so many characters; then all is ready for the next one. */
  take(size: number) {
    for (const matcher of this.#touched) {
      this.#close(matcher)
      this.#ends[matcher] = -1
    }
    this.#seenAt.fill(-1)
    const closed = this.#closed
    this.#touched = []
    this.#closed = []
    return closed.map(([matcher, start, end]) => [matcher, start, Math.min(end, size)] as const)
  }

  /** A stretch without what its matcher needs holds no match. */
  #close(matcher: number): void {
    const { needs } = this.#matchers[matcher]!
    const second = matcher + this.#matchers.length
    const hasAll = (needs.length < 1 || this.#isSeen[matcher] === 1) && (needs.length < 2 || this.#isSeen[second] === 1)
    if (this.#ends[matcher]! >= 0 && hasAll) {
      this.#closed.push([matcher, this.#starts[matcher]!, this.#ends[matcher]!])
    }
    this.#isSeen[matcher] = 0
    this.#isSeen[second] = 0
  }
}
