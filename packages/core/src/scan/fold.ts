/** The longest piece of text that patterns see at once. */
const pieceCharactersMax = 8192
/** How much of a text is seen before whatever is looked for, and after it: nothing is lost at a cut. */
const contextCharacters = 512

/** A piece of text as patterns see it, with the place in the text of each character that is left. */
export interface Folded {
  readonly text: string
  /** The offset of a character, its line (from 1), and where that line begins. */
  readonly offsets: Uint32Array
  readonly lines: Uint32Array
  readonly lineStarts: Uint32Array
  /** 1 where a reader does not see the character, or does not see what stands inside the word before it. */
  readonly hidden: Uint8Array
  /** Where in `text` begins what the piece before it did not see with all that follows. */
  readonly fresh: number
}

/**
 * Folds a text piece by piece: runs of white space become one, invisible characters and Markdown's emphasis go, wide and
 * tag characters become the letters that they stand for, lines that a shell continues are joined, and what separates
 * sentences for good (a blank line, a heading, an item, a cell) becomes U+E000. Takes linear time; the arrays of a piece
 * are good until the next one.
 */
export function* foldText(text: string): Generator<Folded> {
  const fold = new Fold(text)
  let start = 0
  while (start < text.length) {
    const end = Math.min(start + pieceCharactersMax, text.length)
    const next = end === text.length ? end : end - 2 * contextCharacters
    yield fold.piece(start, next, end)
    start = next
  }
}

const code = (character: string) => character.charCodeAt(0)
const breakMark = 0xe000
const newline = code('\n')
const carriageReturn = code('\r')
const space = code(' ')
const pipe = code('|')
const backslash = code('\\')

class Fold implements Folded {
  text = ''
  fresh = 0
  readonly offsets = new Uint32Array(pieceCharactersMax)
  readonly lines = new Uint32Array(pieceCharactersMax)
  readonly lineStarts = new Uint32Array(pieceCharactersMax)
  readonly hidden = new Uint8Array(pieceCharactersMax)
  readonly #codes = new Uint16Array(pieceCharactersMax)
  readonly #source: string
  #size = 0
  #line = 1
  #lineStart = 0
  /** Nothing but white space and marks of quotes so far on this line. */
  #isLineStart = true
  #isTable = false
  #skippedInvisible = false

  constructor(source: string) {
    this.#source = source
  }

  /** Folds from one offset to another; the piece after it begins at `next`. */
  piece(start: number, next: number, end: number): Folded {
    this.#size = 0
    this.fresh = 0
    const freshFrom = start === 0 ? 0 : start + contextCharacters
    this.#isLineStart = start === this.#lineStart
    let line = this.#line
    let lineStart = this.#lineStart
    for (let at = start; at < end; at++) {
      if (at === freshFrom) this.fresh = this.#size
      if (at === next) [line, lineStart] = [this.#line, this.#lineStart]
      this.#take(at)
    }
    this.#line = line
    this.#lineStart = lineStart
    this.text = Buffer.from(this.#codes.buffer, 0, this.#size * 2).toString('utf16le')
    return this
  }

  #take(at: number): void {
    const unit = this.#source.charCodeAt(at)
    if (unit > 126) return this.#takeUncommon(unit, at)
    if (unit === newline || unit === carriageReturn) return this.#takeNewline(unit, at)
    if (unit <= space) return this.#takeSpace(at)
    if (this.#isLineStart && this.#takeLineMark(unit, at)) return
    if (unit === pipe && this.#isTable) return this.#takeCellMark(at)
    if (isEmphasis[unit] && !this.#isInWord(unit, at)) return
    this.#put(unit, at)
  }

  #takeUncommon(unit: number, at: number): void {
    const letter = toLetter(unit, this.#source.charCodeAt(at - 1))
    if (letter === 'invisible') this.#skippedInvisible = true
    else if (letter === space) this.#takeSpace(at)
    else if (unit >= tagsFrom && unit <= tagsTo && letter !== unit) this.#put(letter, at - 1, true)
    else this.#put(letter, at)
  }

  #takeSpace(at: number): void {
    if (this.#isLineStart || this.#last() === space) return
    this.#put(space, at)
  }

  #takeNewline(unit: number, at: number): void {
    if (unit === carriageReturn && this.#source.charCodeAt(at + 1) === newline) return
    if (this.#last() === space) this.#size--
    const last = this.#last()
    // A shell goes on reading after either.
    const isJoined = last === backslash || (last === pipe && !this.#isTable)
    if (last === backslash) this.#size--
    if (last === newline) this.#codes[this.#size - 1] = breakMark
    else if (last !== breakMark) this.#put(isJoined ? space : newline, at)
    this.#line++
    this.#lineStart = at + 1
    this.#isLineStart = !isJoined
    this.#isTable = false
  }

  /** What begins a line in Markdown without being part of its words. Tells whether it was that. */
  #takeLineMark(unit: number, at: number): boolean {
    if (unit === code('>')) return true
    const isItem = isItemMark[unit] === 1 && this.#source.charCodeAt(at + 1) === space
    this.#isTable = unit === pipe
    if (!isItem && !this.#isTable && unit !== code('#')) return false
    this.#put(breakMark, at)
    return true
  }

  /** In a table a pipe separates cells unless it is escaped. */
  #takeCellMark(at: number): void {
    if (this.#last() !== backslash) return this.#put(breakMark, at)
    this.#size--
    this.#put(pipe, at)
  }

  #isInWord(unit: number, at: number): boolean {
    return unit === code('_') && isWord(this.#source.charCodeAt(at - 1)) && isWord(this.#source.charCodeAt(at + 1))
  }

  #last(): number {
    return this.#size === 0 ? 0 : this.#codes[this.#size - 1]!
  }

  #put(unit: number, at: number, isHidden = false): void {
    const isSplit = this.#skippedInvisible && isWord(unit) && isWord(this.#last())
    const place = this.#size++
    this.#codes[place] = unit
    this.offsets[place] = at
    this.lines[place] = this.#line
    this.lineStarts[place] = this.#lineStart
    this.hidden[place] = Number(isHidden || isSplit)
    this.#skippedInvisible = false
    this.#isLineStart = false
  }
}

const isEmphasis = toTable('*_`')
const isItemMark = toTable('*-+')

function toTable(characters: string): Uint8Array {
  const table = new Uint8Array(128)
  for (const character of characters) table[code(character)] = 1
  return table
}

function isWord(unit: number): boolean {
  return (unit >= 48 && unit <= 57) || (unit >= 65 && unit <= 90) || (unit >= 97 && unit <= 122) || unit > 191
}

/** The second halves of tag characters, U+E0020 to U+E007E, which copy ASCII and are not shown. */
const tagsFrom = 0xdc20
const tagsTo = 0xdc7e
const tagsFirstHalf = 0xdb40

/** Ranges of code units that are white space, or that nobody sees. */
const spaces = [[0x85], [0xa0], [0x1680], [0x2000, 0x200a], [0x2028, 0x2029], [0x202f], [0x205f], [0x3000]] as const
const invisibles = [
  ...([[0x7f], [0xad], [0x34f], [0x61c], [0x180e], [0x200b, 0x200f], [0x202a, 0x202e]] as const),
  ...([[0x2060, 0x206f], [0xfe00, 0xfe0f], [0xfeff], [tagsFirstHalf]] as const),
] as const

function isIn(ranges: readonly (readonly [number, number?])[], unit: number): boolean {
  return ranges.some(([from, to = from]) => unit >= from && unit <= to)
}

/** The character that one outside ASCII is read as. */
function toLetter(unit: number, before: number): number | 'invisible' {
  if (unit >= tagsFrom && unit <= tagsTo && before === tagsFirstHalf) return unit - 0xdc00
  if (unit >= 0xff01 && unit <= 0xff5e) return unit - 0xfee0
  if (unit === 0x2018 || unit === 0x2019) return code("'")
  if (unit === 0x201c || unit === 0x201d) return code('"')
  if (isIn(invisibles, unit)) return 'invisible'
  return isIn(spaces, unit) ? space : unit
}
