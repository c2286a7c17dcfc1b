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

/** What is known of every match of an expression. */
export interface PatternTraits {
  /** The most characters that it takes, `Infinity` where nothing bounds it. */
  readonly width: number
  /** What it holds, as far as that can be told. */
  readonly needs: readonly Need[]
  /** What it may cross; what it only looks at does not count. */
  readonly crosses: Crossing
}

/** Throws a `TypeError` if a bracket is too many. */
export function readPattern({ source }: RegExp): PatternTraits {
  const lower = source.replace(/\\.|[A-Z]/g, (found) => (found.length === 1 ? found.toLowerCase() : found))
  const reader = new Reader(lower)
  const part = reader.alternatives()
  if (!reader.isDone) throw new TypeError(`The pattern ${source} has a bracket too many.`)
  return { width: part.width, needs: toNeedsOf(part), crosses: crossings[part.crosses]! }
}

/** Characters that mean nothing else. */
const textPattern = /[^\\[\](){}|*+?.^$]+/y
const repeatedBy: ReadonlySet<string | undefined> = new Set(['*', '+', '?', '{'])
const classPattern = /\[(?:\\[^]|[^\]\\])*\]/y
const groupPattern = /\((?:\?(?:(?<look><?[=!])|:|<[^>]*>|[a-z-]+:))?/y
const quantifierPattern = /(?:[*+]|\?|\{(?<least>\d+)(?<comma>,(?<most>\d*))?\})\??/y
const escapePattern = /\\(?:u\{[\da-f]+\}|u[\da-f]{4}|x[\da-f]{2}|[pP]\{[^}]*\}|k<[^>]*>|[^])/iuy
const edges: ReadonlySet<string> = new Set(['\\b', '\\B', '^', '$'])

/** Reads an expression by the grammar of ECMA-262, 22.2.1. Most of one is plain text, which is taken as a whole. */
class Reader {
  readonly #source: string
  #at = 0

  constructor(source: string) {
    this.#source = source
  }

  get isDone(): boolean {
    return this.#at === this.#source.length
  }

  /** Up to a bracket or the end. */
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
    while (!this.isDone && this.#source[this.#at] !== '|' && this.#source[this.#at] !== ')') {
      const one = this.#one()
      const [least, most] = this.#times()
      if (least === 1 && most === 1) parts.push(one)
      else parts.push(repeat(one, least, most))
    }
    return parts.length === 1 ? parts[0]! : chain(parts)
  }

  /** What a quantifier behind it would repeat; text as far as none does. */
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

  /** A quantifier repeats the last character alone. */
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
/** How many characters of a class are told from any others. */
const classMax = 16

/** A class of a few characters is one of them, if it has no ranges. */
function toClass(source: string): Part {
  const characters = source.slice(1, -1).replace(/\\([^a-z\d])/gi, '$1')
  const isRange = /^$|^\^|\\[a-z\d]|[^]-[^]/i.test(characters)
  if (isRange || characters.length > classMax) return toAny(source)
  return toCharacters([...new Set(characters.split(''))])
}

function toEscape(source: string): Part {
  if (edges.has(source)) return nothing
  // A reference to a group may take as much as the group did.
  if (/^\\(?:k<|[1-9])/.test(source)) return { ...toAny(source), width: Infinity }
  // One that stands for one character, and is no class and no place.
  return /^\\[^a-z\d]$/i.test(source) ? toText(source[1]!) : toAny(source)
}

const anyOf = new Map<string, Part>()

/** Some character that an atom takes. The same few stand in most expressions, and to try an expression takes its time. */
function toAny(atom: string): Part {
  let part = anyOf.get(atom)
  if (!part) {
    const taken = new RegExp(`^${atom}`, 'i')
    const crosses = taken.test('\uE000') ? 2 : taken.test('\n') ? 1 : 0
    part = { width: 1, crosses, needs: [] }
    anyOf.set(atom, part)
  }
  return part
}
