import {
  firstHalf,
  invisible,
  letterOf,
  lookAlikes,
  lookAlike,
  silent,
  toAstralLetter,
  toTagged,
} from './fold-tables.ts'

/** Maximum length of a piece of text for patterns. */
const pieceCharactersMax = 32_768
/** Overlap of pieces: context before and after every position, so that no match is lost at a cut. */
export const contextCharacters = 1024

/** A piece of text as patterns see it, with the original position of each character. */
export type Folded = Readonly<Omit<Fold, 'next'>>

/**
 * Folds a text piece by piece: collapses white space; removes invisible characters and Markdown emphasis; converts wide
 * characters, tag characters and look-alikes in Latin words to the letters that they stand for; joins lines that a
 * shell continues; and marks hard separators of sentences (a blank line, a heading, an item, a cell) with U+E000. Takes
 * linear time. A piece is valid until the next piece is read.
 */
export function* foldText(text: string): Generator<Folded> {
  const buffers = spareBuffers.pop() ?? toBuffers()
  const fold = new Fold(text, buffers)
  while (fold.next()) yield fold
  spareBuffers.push(buffers)
}

type Buffers = Pick<Folded, 'codes' | 'offsets' | 'hidden'>

/** Buffers for reuse: most texts are short, and clearing new buffers takes longer than folding them. */
const spareBuffers: Buffers[] = []

function toBuffers(): Buffers {
  return {
    // A pair of surrogates may go one beyond the limit.
    codes: new Uint16Array(pieceCharactersMax + 1),
    offsets: new Uint32Array(pieceCharactersMax + 1),
    hidden: new Uint8Array(pieceCharactersMax + 1),
  }
}

const code = (character: string) => character.charCodeAt(0)
const breakMark = 0xe000
const newline = code('\n')
const carriageReturn = code('\r')
const space = code(' ')
const pipe = code('|')
const backslash = code('\\')

class Fold {
  text = ''
  /** Matches that begin between these two offsets belong to this piece and to no other. */
  from = 0
  to = 0
  size = 0
  readonly codes: Uint16Array
  /** For each character of the folded text, its offset in the original text. */
  readonly offsets: Uint32Array
  /** 1 if the character is invisible, or follows an invisible character inside its word. */
  readonly hidden: Uint8Array
  readonly #source: string
  /** The code units of the source, and a zero. Reading this array is several times faster than `charCodeAt`. */
  readonly #units: Uint16Array
  #at = 0
  /** Whether the line so far has only white space and quote marks. */
  #isLineStart = true
  #isTable = false
  #skippedInvisible = false
  /** The end of the current run of look-alikes, and whether they stand for Latin letters. */
  #runEnd = 0
  #isRunLatin = false

  constructor(source: string, { codes, offsets, hidden }: Buffers) {
    this.#source = source
    this.#units = new Uint16Array(source.length + 1)
    Buffer.from(this.#units.buffer).write(source, 'utf16le')
    this.codes = codes
    this.offsets = offsets
    this.hidden = hidden
  }

  /** Moves to the next piece, which begins with the end of the previous piece. Returns whether a piece is left. */
  next(): boolean {
    if (this.#at === this.#source.length) return false
    this.#keepEnd()
    this.hidden.fill(0, this.size)
    const end = this.#source.length
    while (this.#at < end && this.size < pieceCharactersMax) {
      this.#takePlain(end)
      if (this.#at < end && this.size < pieceCharactersMax) this.#take(this.#at++)
    }
    this.to = this.#at === end ? this.size : this.size - contextCharacters
    this.text = Buffer.from(this.codes.buffer, 0, this.size * 2).toString('utf16le')
    return true
  }

  /** Copies a run of characters that never need folding: most of every text. */
  #takePlain(end: number): void {
    if (this.#isLineStart || this.#skippedInvisible) return
    const { codes, offsets } = this
    const units = this.#units
    let at = this.#at
    let size = this.size
    for (; at < end && size < codes.length; at++, size++) {
      const unit = units[at]!
      if (isPlain[unit] !== 1 && (unit !== space || codes[size - 1] === space)) break
      codes[size] = unit
      offsets[size] = at
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
    const unit = this.#units[at]!
    if (unit > 126) return this.#takeUncommon(unit, at)
    if (unit === newline || unit === carriageReturn) return this.#takeNewline(unit, at)
    if (unit <= space) return this.#takeSpace(at)
    if (this.#isLineStart && this.#takeLineMark(unit, at)) return
    if (unit === pipe && this.#isTable) return this.#takeCellMark(at)
    if (isPlain[unit] === 0 && unit !== pipe && !this.#isInWord(unit, at)) return
    this.#put(unit, at)
  }

  #takeUncommon(unit: number, at: number): void {
    const letter = letterOf[unit]!
    if (letter === invisible) this.#skippedInvisible = true
    else if (letter === space) this.#takeSpace(at)
    else if (letter === firstHalf) this.#takePair(unit, at)
    else if (letter === lookAlike) this.#takeLookAlike(unit, at)
    else if (letter !== silent) this.#put(letter, at)
  }

  #takePair(unit: number, at: number): void {
    const point = this.#source.codePointAt(at)!
    if (point === unit) return this.#put(unit, at)
    this.#at++
    const tagged = toTagged(point)
    const letter = toAstralLetter(point)
    if (tagged !== undefined) this.#put(tagged, at, true)
    else if (letter === invisible) this.#skippedInvisible = true
    else {
      this.#put(letter ?? unit, at)
      if (letter === undefined) this.#put(this.#units[at + 1]!, at + 1)
    }
  }

  #takeLookAlike(unit: number, at: number): void {
    if (at >= this.#runEnd) this.#readRun(at)
    this.#put(this.#isRunLatin ? lookAlikes.get(unit)! : unit, at, this.#isRunLatin)
  }

  /** Decides whether a run of look-alikes is Latin: next to a Latin letter, or as a word of its own in Latin text. */
  #readRun(at: number): void {
    const units = this.#units
    let end = at + 1
    while (end - at < lookAlikesMax && letterOf[units[end]!] === lookAlike) end++
    const [before, after] = [units[at - 1] ?? 0, units[end]!]
    const isWhole = end - at >= lookAlikeWordMin && !isWord(before) && !isWord(after)
    this.#runEnd = end
    this.#isRunLatin = isLatin(before) || isLatin(after) || (isWhole && this.#isInLatinText(end))
  }

  /**
   * Whether the last word of the line is Latin, and no word of another script follows. Real words of other scripts that
   * have only look-alikes are short.
   */
  #isInLatinText(end: number): boolean {
    let [before, after] = [this.size - 1, end]
    for (let steps = 0; steps < gapCharactersMax && isBetweenWords(this.codes[before]!); steps++) before--
    for (let steps = 0; steps < gapCharactersMax && isBetweenWords(this.#units[after]!); steps++) after++
    const next = this.#units[after]!
    return isLatin(this.codes[before]!) && (!isLetter(next) || isLatin(next) || letterOf[next] === lookAlike)
  }

  #takeSpace(at: number): void {
    if (this.#isLineStart || this.#last() === space) return
    this.#put(space, at)
  }

  #takeNewline(unit: number, at: number): void {
    if (unit === carriageReturn && this.#units[at + 1] === newline) return
    if (this.#last() === space) this.size--
    const last = this.#last()
    // A shell continues a line that ends with a backslash or a pipe.
    const isJoined = last === backslash || (last === pipe && !this.#isTable)
    if (last === backslash) this.size--
    if (last === newline) this.codes[this.size - 1] = breakMark
    else if (last !== breakMark) this.#put(isJoined ? space : newline, at)
    this.#isLineStart = !isJoined
    this.#isTable = false
  }

  /** Skips Markdown marks at the beginning of a line. Returns whether the character was such a mark. */
  #takeLineMark(unit: number, at: number): boolean {
    if (unit === code('>')) return true
    const isItem = itemMarks.has(unit) && this.#units[at + 1] === space
    this.#isTable = unit === pipe
    if (!isItem && !this.#isTable && unit !== code('#')) return false
    this.#put(breakMark, at)
    return true
  }

  /** In a table an unescaped pipe separates cells. */
  #takeCellMark(at: number): void {
    if (this.#last() !== backslash) return this.#put(breakMark, at)
    this.size--
    this.#put(pipe, at)
  }

  #isInWord(unit: number, at: number): boolean {
    return unit === code('_') && isWord(this.#units[at - 1]!) && isWord(this.#units[at + 1]!)
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

const itemMarks: ReadonlySet<number> = new Set([...'*-+'].map(code))

/** ASCII except white space, marks of emphasis and of tables. */
const isPlain = new Uint8Array(65_536).fill(1, 33, 127)
for (const mark of '*_`|') isPlain[code(mark)] = 0

function isWord(unit: number): boolean {
  return (unit >= 48 && unit <= 57) || isLatin(unit) || unit > 191
}

function isLetter(unit: number): boolean {
  return isLatin(unit) || (unit > 191 && unit !== breakMark)
}

function isLatin(unit: number): boolean {
  return (unit >= 65 && unit <= 90) || (unit >= 97 && unit <= 122)
}

/** Whether a character can stand between two words of a line: neither a letter nor a line end or mark of a break. */
function isBetweenWords(unit: number): boolean {
  return unit > 0 && unit !== newline && unit !== breakMark && !isLetter(unit)
}

/** Maximum number of consecutive look-alikes that are read as Latin because of one Latin letter next to them. */
const lookAlikesMax = 12
/** Minimum length of a word of look-alikes that is read as Latin because of the word before it. */
const lookAlikeWordMin = 2
/** Maximum number of characters between a word of look-alikes and the words before and after it. */
const gapCharactersMax = 16
