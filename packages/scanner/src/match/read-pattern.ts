import { anything, areComplete, joinBeginnings, wordEdge } from './beginnings.ts'
import {
  chain,
  choose,
  crossings,
  nothing,
  repeat,
  toCharacters,
  toNeedsOf,
  toText,
  type Crossing,
  type Need,
  type Part,
} from './pattern-parts.ts'
import { toPlainLetters } from '../text/regex.ts'

/** Properties of all matches of an expression. */
export interface PatternTraits {
  /** Maximum number of characters, `Infinity` if unbounded. */
  readonly width: number
  /** Texts that every match contains, as far as they can be derived. */
  readonly needs: readonly Need[]
  /** What a match may cross; lookarounds do not count. */
  readonly crosses: Crossing
}

/** The first characters of the matches of an expression, in either case (see `Beginnings`). */
export function readBeginnings(source: string): readonly string[] {
  return new Reader(toPlainLetters(source), true).alternatives().begins
}

/** Throws a `TypeError` if the brackets do not match. */
export function readPattern({ source }: RegExp): PatternTraits {
  const part = readPart(source)
  return { width: part.width, needs: toNeedsOf(part), crosses: crossings[part.crosses]! }
}

function readPart(source: string): Part {
  const lower = toPlainLetters(source).replace(/\\.|[A-Z]/g, (found) =>
    found.length === 1 ? found.toLowerCase() : found,
  )
  const reader = new Reader(lower)
  const part = reader.alternatives()
  if (!reader.isDone) throw new TypeError(`The pattern ${source} has an unmatched bracket.`)
  return part
}

/** Characters without a special meaning. */
const textPattern = /[^\\[\](){}|*+?.^$]+/y
const repeatedBy: ReadonlySet<string | undefined> = new Set(['*', '+', '?', '{'])
const classPattern = /\[(?:\\[^]|[^\]\\])*\]/y
/** Everything except brackets of groups and bars. */
const ungroupedPattern = /(?:[^\\[()|]|\\[^]|\[(?:\\[^]|[^\]\\])*\])+/y
const groupPattern = /\((?:\?(?:(?<look><?[=!])|:|<[^>]*>|[a-z-]+:))?/y
const quantifierPattern = /(?:[*+]|\?|\{(?<least>\d+)(?<comma>,(?<most>\d*))?\})\??/y
const escapePattern = /\\(?:u\{[\da-f]+\}|u[\da-f]{4}|x[\da-f]{2}|[pP]\{[^}]*\}|k<[^>]*>|[^])/iuy
const edges: ReadonlySet<string> = new Set(['\\b', '\\B', '^', '$'])

/**
 * Parses a regular expression by the grammar of ECMA-262, 22.2.1. Plain text, which is most of it, is read at once: all
 * rules take 110 ms, `@eslint-community/regexpp` 160 ms, and each scan thread reads them when it starts.
 */
class Reader {
  readonly #source: string
  readonly #onlyBegins: boolean
  #at = 0

  /** `onlyBegins`: whether only the beginnings of the part are wanted, so that the rest is skipped. */
  constructor(source: string, onlyBegins = false) {
    this.#source = source
    this.#onlyBegins = onlyBegins
  }

  get isDone(): boolean {
    return this.#at === this.#source.length
  }

  /** Reads up to a closing bracket or the end. */
  alternatives(): Part {
    const first = this.#sequence()
    if (this.#source[this.#at] !== '|') return first
    const parts = [first]
    while (this.#source[this.#at] === '|') {
      this.#at++
      parts.push(this.#sequence())
    }
    return choose(parts)
  }

  #sequence(): Part {
    const parts: Part[] = []
    let begins = nothing.begins
    while (!this.isDone && this.#source[this.#at] !== '|' && this.#source[this.#at] !== ')') {
      const one = this.#one()
      const [least, most] = this.#times()
      const part = least === 1 && most === 1 ? one : repeat(one, least, most)
      parts.push(part)
      if (!this.#onlyBegins) continue
      begins = joinBeginnings(begins, part.begins)
      if (areComplete(begins)) this.#skipSequence()
    }
    return parts.length === 1 ? parts[0]! : chain(parts)
  }

  /** Skips the rest of a sequence, with the groups in it. */
  #skipSequence(): void {
    for (let depth = 0; ; this.#at++) {
      this.#read(ungroupedPattern)
      const next = this.#source[this.#at]
      if (next === undefined || (depth === 0 && next !== '(')) return
      if (next === '(') depth++
      else if (next === ')') depth--
    }
  }

  /** Reads one atom to which a following quantifier applies; plain text up to that atom. */
  #one(): Part {
    const text = this.#read(textPattern)?.[0]
    if (text) return toText(this.#leaveRepeated(text))
    const first = this.#source[this.#at]!
    if (first === '[') return toClass(this.#read(classPattern)![0])
    if (first === '(') return this.#group()
    if (first === '\\') return toEscape(this.#read(escapePattern)![0])
    this.#at++
    if (edges.has(first)) return nothing
    return first === '.' ? toAny(first) : toText(first)
  }

  /** A quantifier applies only to the last character. */
  #leaveRepeated(text: string): string {
    if (text.length === 1 || !repeatedBy.has(this.#source[this.#at])) return text
    this.#at--
    return text.slice(0, -1)
  }

  #group(): Part {
    const { look } = this.#read(groupPattern)!.groups!
    const part = this.alternatives()
    this.#at++
    return look ? nothing : part
  }

  #times(): [least: number, most: number] {
    if (!repeatedBy.has(this.#source[this.#at])) return once
    const found = this.#read(quantifierPattern)
    if (!found) return once
    const { least, comma, most } = found.groups!
    if (found[0].startsWith('?')) return [0, 1]
    if (!least) return [Number(found[0].startsWith('+')), Infinity]
    return [Number(least), comma ? Number(most || Infinity) : Number(least)]
  }

  #read(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#source)
    if (found) this.#at = pattern.lastIndex
    return found
  }
}

const once: [least: number, most: number] = [1, 1]
/** Classes with more characters than this count as any character. */
const classMax = 16

/** A class of a few characters without ranges matches one of them. */
function toClass(source: string): Part {
  const characters = source.slice(1, -1).replace(/\\([^a-z\d])/gi, '$1')
  const isRange = /^$|^\^|\\[a-z\d]|[^]-[^]/i.test(characters)
  if (isRange || characters.length > classMax) return toAny(source)
  return toCharacters([...new Set(characters.split(''))])
}

function toEscape(source: string): Part {
  if (source === '\\b') return edge
  if (edges.has(source)) return nothing
  // A backreference may match as much as its group.
  if (/^\\(?:k<|[1-9])/.test(source)) return { ...toAny(source), width: Infinity }
  // An escape of a single character, not of a class or a position.
  return /^\\[^a-z\d]$/i.test(source) ? toText(source[1]!) : toAny(source)
}

/** A character of each class of white space in `Beginnings`. */
const whiteSpace = [' ', '\t', '\n', '\v', '\u00A0']
const edge: Part = { ...nothing, begins: [wordEdge] }
const anyOf = new Map<string, Part>()

/**
 * An atom that matches some character. Cached: the same few atoms occur in most expressions, and testing one takes
 * time.
 */
function toAny(atom: string): Part {
  let part = anyOf.get(atom)
  if (!part) {
    const taken = new RegExp(`^${atom}`, 'i')
    const crosses = taken.test('\uE000') ? 2 : taken.test('\n') ? 1 : 0
    part = { width: 1, crosses, needs: [], begins: atom === '\\s' ? whiteSpace : [anything] }
    anyOf.set(atom, part)
  }
  return part
}
