import { lookAlikes } from './look-alikes.ts'

/** The longest piece of text that patterns see at once. */
const pieceCharactersMax = 32_768
/** How much of a text is seen before whatever is looked for, and after it: nothing is lost at a cut. */
export const contextCharacters = 1024

/** A piece of text as patterns see it, with the place in the text of each character that is left. */
export interface Folded {
  readonly text: string
  readonly codes: Uint16Array
  readonly size: number
  /** The offset of each character in what was folded. */
  readonly offsets: Uint32Array
  /** 1 where a reader does not see the character, or does not see what stands inside the word before it. */
  readonly hidden: Uint8Array
  /** What begins between these two is found in this piece, and in no other. */
  readonly from: number
  readonly to: number
}

/**
 * Folds a text piece by piece: runs of white space become one, invisible characters and Markdown's emphasis go, wide and
 * tag characters and look-alikes in Latin words become the letters that they stand for, lines that a shell continues are
 * joined, and what separates sentences for good (a blank line, a heading, an item, a cell) becomes U+E000. Takes linear
 * time; what a piece holds is good until the next one.
 */
export function* foldText(text: string): Generator<Folded> {
  const buffers = spareBuffers.pop() ?? toBuffers()
  const fold = new Fold(text, buffers)
  while (fold.next()) yield fold
  spareBuffers.push(buffers)
}

type Buffers = Pick<Folded, 'codes' | 'offsets' | 'hidden'>

/** Those of texts that are done: most texts are short, and to clear new ones takes longer than to fold them. */
const spareBuffers: Buffers[] = []

function toBuffers(): Buffers {
  return {
    codes: new Uint16Array(pieceCharactersMax),
    offsets: new Uint32Array(pieceCharactersMax),
    hidden: new Uint8Array(pieceCharactersMax),
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
  from = 0
  to = 0
  size = 0
  readonly codes: Uint16Array
  readonly offsets: Uint32Array
  readonly hidden: Uint8Array
  readonly #source: string
  #at = 0
  /** Nothing but white space and marks of quotes so far on this line. */
  #isLineStart = true
  #isTable = false
  #skippedInvisible = false

  constructor(source: string, { codes, offsets, hidden }: Buffers) {
    this.#source = source
    this.codes = codes
    this.offsets = offsets
    this.hidden = hidden
  }

  /** Goes on to the next piece, if there is one: it begins with the end of the one before. */
  next(): boolean {
    if (this.#at === this.#source.length) return false
    this.#keepEnd()
    const end = this.#source.length
    while (this.#at < end && this.size < pieceCharactersMax) {
      this.#takePlain(end)
      if (this.#at < end && this.size < pieceCharactersMax) this.#take(this.#at++)
    }
    this.to = this.#at === end ? this.size : this.size - contextCharacters
    this.text = Buffer.from(this.codes.buffer, 0, this.size * 2).toString('utf16le')
    return true
  }

  /** Takes the run of characters that stand for themselves wherever they are: most of every text. */
  #takePlain(end: number): void {
    if (this.#isLineStart || this.#skippedInvisible) return
    const { codes, offsets, hidden } = this
    const source = this.#source
    let at = this.#at
    let size = this.size
    for (; at < end && size < codes.length; at++, size++) {
      const unit = source.charCodeAt(at)
      if (isPlain[unit] !== 1 && (unit !== space || codes[size - 1] === space)) break
      codes[size] = unit
      offsets[size] = at
      hidden[size] = 0
    }
    this.#at = at
    this.size = size
  }

  #keepEnd(): void {
    if (this.#at === 0) return
    const start = this.size - 2 * contextCharacters
    for (const array of [this.codes, this.offsets, this.hidden]) array.copyWithin(0, start, this.size)
    this.from = contextCharacters
    this.size = 2 * contextCharacters
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
    const letter = letterOf[unit]!
    if (letter === invisible) this.#skippedInvisible = true
    else if (letter === space) this.#takeSpace(at)
    else if (letter === secondHalf) this.#takeSecondHalf(unit, at)
    else if (letter === lookAlike) this.#takeLookAlike(unit, at)
    else if (letter !== silent) this.#put(letter, at)
  }

  /** Of a pair of code units that may stand for a letter; its first half is put down already, or invisible. */
  #takeSecondHalf(unit: number, at: number): void {
    const first = this.#source.charCodeAt(at - 1)
    if (first === tagsFirstHalf && unit >= tagsFrom && unit <= tagsTo) this.#put(unit - tagsFrom + space, at - 1, true)
    else if (first === tagsFirstHalf) this.#skippedInvisible = true
    else this.#put(first === mathFirstHalf ? toMathLetter(unit) : unit, at)
  }

  #takeLookAlike(unit: number, at: number): void {
    const isLatin = this.#isBesideLatin(at, 1) || this.#isBesideLatin(at, -1)
    this.#put(isLatin ? code(lookAlikes.get(unit)!) : unit, at, isLatin)
  }

  /** Whether other look-alikes, and then a letter of ASCII, stand next to the place. */
  #isBesideLatin(at: number, step: 1 | -1): boolean {
    for (let distance = 1; distance <= lookAlikesMax; distance++) {
      const unit = this.#source.charCodeAt(at + step * distance)
      if ((unit >= 65 && unit <= 90) || (unit >= 97 && unit <= 122)) return true
      if (letterOf[unit] !== lookAlike) return false
    }
    return false
  }

  #takeSpace(at: number): void {
    if (this.#isLineStart || this.#last() === space) return
    this.#put(space, at)
  }

  #takeNewline(unit: number, at: number): void {
    if (unit === carriageReturn && this.#source.charCodeAt(at + 1) === newline) return
    if (this.#last() === space) this.size--
    const last = this.#last()
    // A shell goes on reading after either.
    const isJoined = last === backslash || (last === pipe && !this.#isTable)
    if (last === backslash) this.size--
    if (last === newline) this.codes[this.size - 1] = breakMark
    else if (last !== breakMark) this.#put(isJoined ? space : newline, at)
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
    this.size--
    this.#put(pipe, at)
  }

  #isInWord(unit: number, at: number): boolean {
    return unit === code('_') && isWord(this.#source.charCodeAt(at - 1)) && isWord(this.#source.charCodeAt(at + 1))
  }

  #last(): number {
    return this.size === 0 ? 0 : this.codes[this.size - 1]!
  }

  #put(unit: number, at: number, isHidden = false): void {
    const isSplit = this.#skippedInvisible && isWord(unit) && isWord(this.#last())
    const place = this.size++
    this.codes[place] = unit
    this.offsets[place] = at
    this.hidden[place] = Number(isHidden || isSplit)
    this.#skippedInvisible = false
    this.#isLineStart = false
  }
}

const isEmphasis = toTable('*_`')
const isItemMark = toTable('*-+')

/** Of ASCII, all but white space and what Markdown or a table may give a meaning. */
const isPlain = new Uint8Array(65_536).fill(1, 33, 127)
for (const mark of '*_`|') isPlain[code(mark)] = 0

function toTable(characters: string): Uint8Array {
  const table = new Uint8Array(128)
  for (const character of characters) table[code(character)] = 1
  return table
}

function isWord(unit: number): boolean {
  return (unit >= 48 && unit <= 57) || (unit >= 65 && unit <= 90) || (unit >= 97 && unit <= 122) || unit > 191
}

/** How many look-alikes in a row are read as Latin for the sake of one letter at their end. */
const lookAlikesMax = 12

/** The second halves of tag characters, U+E0020 to U+E007E, which copy ASCII and are not shown. */
const tagsFrom = 0xdc20
const tagsTo = 0xdc7e
const tagsFirstHalf = 0xdb40
/** Of bold, italic and other letters for mathematics, U+1D400 to U+1D7FF. */
const mathFirstHalf = 0xd835

function toMathLetter(unit: number): number {
  const [letter = ''] = String.fromCharCode(mathFirstHalf, unit).normalize('NFKC')
  return letter.length === 1 ? letter.charCodeAt(0) : unit
}

/** Ranges of code units that are white space, that nobody sees, and that belong to the letter before them. */
const spaces = [[0x85], [0xa0], [0x1680], [0x2000, 0x200a], [0x2028, 0x2029], [0x202f], [0x205f], [0x3000]] as const
const invisibles = [
  ...([[0x7f], [0x34f], [0x61c], [0x180e], [0x200b, 0x200f], [0x202a, 0x202e], [0x2060, 0x206f]] as const),
  ...([[0xe000, 0xf8ff], [0xfeff], [0xfff9, 0xfffb], [tagsFirstHalf]] as const),
] as const
const silents = [[0xad], [0x300, 0x36f], [0xfe00, 0xfe0f], [mathFirstHalf]] as const
/** Letters in circles, in squares, of double width or in the shape of symbols: what NFKC makes of them is a letter. */
const shapes = [
  [0x2100, 0x214f],
  [0x24b6, 0x24e9],
  [0xff01, 0xff5e],
] as const

/** What stands in `letterOf` for characters that are no letter: none of these is a character above ASCII. */
const invisible = 1
const silent = 2
const lookAlike = 3
const secondHalf = 4

/** What each code unit above ASCII is read as. */
const letterOf = Uint16Array.from({ length: 65_536 }, (_, unit) => unit)
for (const [from, to = from] of spaces) letterOf.fill(space, from, to + 1)
for (const [from, to = from] of invisibles) letterOf.fill(invisible, from, to + 1)
for (const [from, to = from] of silents) letterOf.fill(silent, from, to + 1)
letterOf.fill(secondHalf, 0xdc00, 0xe000)
for (const unit of lookAlikes.keys()) letterOf[unit] = lookAlike
for (const [from, to] of shapes) {
  for (let unit = from; unit <= to; unit++) {
    const letter = String.fromCharCode(unit).normalize('NFKC')
    if (letter.length === 1) letterOf[unit] = code(letter)
  }
}
for (const [quote, plain] of ["\u2018'", "\u2019'", '\u201c"', '\u201d"']) letterOf[code(quote!)] = code(plain!)
