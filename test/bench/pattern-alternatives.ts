import type { Flow, Pattern, Together } from '../../packages/scanner/src/match/rule.ts'

/** A text, or a group with its alternatives; groups of a look-around stay as they are and count as text. */
type Piece = string | Group

interface Group {
  readonly alternatives: readonly Alternative[]
  /** `?`, `{0,3}` and the like, or nothing. */
  readonly times: string
}

interface Alternative {
  /** Its number among all alternatives of the expression, from 0. */
  readonly number: number
  readonly pieces: readonly Piece[]
}

const tokenPattern = /\\(?:u\{[^}]*\}|k<[^>]*>|[^])|\[(?:\\[^]|[^\]\\])*\]|\((?:\?(?:<?[=!]|:|<[^>]*>))?|[^]/gy
const timesPattern = /(?:[*+?]|\{\d+(?:,\d*)?\})\??/y
const mayBeAbsent = /^(?:[*?]|\{0,)/

/** The alternatives of an expression: the entries of its word lists, at every depth. Empty ones do not count. */
export class Alternatives {
  readonly #source: string
  readonly #root: Group
  #at = 0
  #count = 0

  constructor(source: string) {
    this.#source = source
    this.#root = { alternatives: this.#readAlternatives(), times: '' }
  }

  /** The expression with a group around each alternative, to be read with {@link toAlternatives}. */
  toTraced(flags: string): RegExp {
    return new RegExp(
      print(this.#root, ({ number }, inner) => `(?<alternative${number}>${inner})`)!,
      flags,
    )
  }

  /** The expression without some alternatives, or `undefined` if nothing is left. */
  without(isGone: (alternative: number) => boolean): string | undefined {
    return print(this.#root, ({ number, pieces }, inner) => {
      return isGone(number) && pieces.length > 0 ? undefined : inner
    })
  }

  #readAlternatives(): Alternative[] {
    const alternatives: Alternative[] = []
    do {
      const number = this.#count++
      alternatives.push({ number, pieces: this.#readPieces() })
    } while (this.#source[this.#at++] === '|')
    return alternatives
  }

  /** Reads up to `|`, `)` or the end. */
  #readPieces(): Piece[] {
    const pieces: Piece[] = []
    for (;;) {
      const token = this.#read(tokenPattern)
      if (token === undefined) return pieces
      if (token === '|' || token === ')') {
        this.#at--
        return pieces
      }
      if (!token.startsWith('(')) pieces.push(token)
      else if (/^\(\?(?:<?[=!]|<)/.test(token)) pieces.push(this.#readAside(token))
      else pieces.push({ alternatives: this.#readAlternatives(), times: this.#read(timesPattern) ?? '' })
    }
  }

  /** A look-around or a named group, as it is. */
  #readAside(opening: string): string {
    let text = opening
    for (let depth = 1; depth > 0;) {
      const token = this.#read(tokenPattern)!
      if (token.startsWith('(')) depth++
      else if (token === ')') depth--
      text += token
    }
    return text
  }

  #read(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#source)?.[0]
    if (found !== undefined) this.#at += found.length
    return found
  }
}

type Printer = (alternative: Alternative, inner: string) => string | undefined

function print({ alternatives }: Group, printOne: Printer): string | undefined {
  const printed = alternatives.flatMap((alternative) => {
    const inner = printPieces(alternative.pieces, printOne)
    const text = inner === undefined ? undefined : printOne(alternative, inner)
    return text === undefined ? [] : [text]
  })
  return printed.length === 0 ? undefined : printed.join('|')
}

function printPieces(pieces: readonly Piece[], printOne: Printer): string | undefined {
  let text = ''
  for (const piece of pieces) {
    if (typeof piece === 'string') {
      text += piece
      continue
    }
    const inner = print(piece, printOne)
    if (inner !== undefined) text += `(?:${inner})${piece.times}`
    else if (!mayBeAbsent.test(piece.times)) return undefined
  }
  return text
}

/** The numbers of the alternatives that a match of a traced expression consists of. */
export function toAlternatives({ groups = {} }: RegExpExecArray): number[] {
  const names = Object.keys(groups).filter((name) => groups[name] !== undefined && name.startsWith('alternative'))
  return names.map((name) => Number(name.slice('alternative'.length)))
}

/** The expressions of a pattern that consist of word lists. */
export function toWordLists(pattern: Pattern): readonly RegExp[] {
  const match = 'match' in pattern ? pattern.match : pattern
  if (match instanceof RegExp) return [match]
  return 'all' in match ? match.all : [match.first, match.last]
}

/** The pattern with other expressions. */
export function replaceWordLists(pattern: Pattern, expressions: readonly RegExp[]): Pattern {
  if ('match' in pattern) return { ...pattern, match: replaceIn(pattern.match, expressions) }
  return replaceIn(pattern, expressions)
}

function replaceIn(match: RegExp | Flow | Together, expressions: readonly RegExp[]): RegExp | Flow | Together {
  const [first, last] = expressions
  if (match instanceof RegExp) return first!
  return 'all' in match ? { ...match, all: expressions } : { ...match, first: first!, last: last! }
}
