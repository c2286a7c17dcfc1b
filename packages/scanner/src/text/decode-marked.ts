import type { Encoded } from './encoded.ts'
import { regexWith } from './regex.ts'

/** Characters of a line that are decoded around a mark. */
const lineCharactersMax = 4096

interface Escape {
  readonly form: string
  /** A string that every escape of the kind contains; texts without it are skipped. */
  readonly mark: string
  /** Minimum number of unnecessary escapes on a line. */
  readonly timesMin: number
  readonly pattern: RegExp
}

/** Escapes of letters and digits, which never need one: other escapes are part of each format's normal use. */
const escapes: readonly Escape[] = [
  { form: 'url', mark: '%', timesMin: 3, pattern: /%(?<hex>[2-7][\da-f])/gi },
  {
    form: 'html',
    mark: '&#',
    timesMin: 3,
    pattern: /&#(?:x0{0,4}(?<hex>[2-7][\da-f])|0{0,4}(?<decimal>3[2-9]|[4-9]\d|1[01]\d|12[0-6]));?/gi,
  },
  { form: 'hex', mark: '\\x', timesMin: 4, pattern: /\\x(?<hex>[2-7][\da-f])/gi },
  {
    form: 'unicode',
    mark: '\\u',
    timesMin: 3,
    pattern: /\\u(?:00(?<hex>[2-7][\da-f])|\{0{0,4}(?<braced>[2-7][\da-f])\})/gi,
  },
  { form: 'octal', mark: '\\1', timesMin: 4, pattern: /\\(?<octal>0?[4-7][0-7]|1[0-7]{2})/g },
]

/** Finds lines with escaped letters, and decodes them. */
export function* findEscaped(text: string): Generator<Encoded> {
  for (const { form, mark, timesMin, pattern } of escapes) {
    for (const { at, end, line } of linesWith(text, mark)) {
      let letters = 0
      const plain = line.replace(pattern, (...found) => {
        const character = toCharacter(found.at(-1) as Record<string, string | undefined>)
        // In URLs, spaces have to be escaped.
        letters += Number(/[a-z\d]/i.test(character) || (character === ' ' && form !== 'url'))
        return character
      })
      if (letters >= timesMin) yield { text: plain, start: at, end, form }
    }
  }
}

function toCharacter({ hex, braced, decimal, octal }: Record<string, string | undefined>): string {
  const base = octal === undefined ? (decimal === undefined ? 16 : 10) : 8
  return String.fromCharCode(parseInt((hex ?? braced ?? decimal ?? octal)!, base))
}

const code = String.raw`(?:0x[2-7][\da-f]|3[2-9]|[4-9]\d|1[01]\d|12[0-6])`
/** Sequences of character codes, with or without a function call around each. */
const numbersPattern = new RegExp(
  String.raw`(?:(?:chr|char|\[char\])?\s?\(?\s?${code}\s?\)?\s?[,+.&]\s?){7,4000}(?:chr|\[char\])?\s?\(?\s?${code}\b`,
  'gi',
)
const numbersMarks = regexWith('i')`(charcode|codepoint|chr\(|\[char|bytes\(|bytearray\(|Uint8Array)`

/** Decodes character codes, in texts that mention a conversion of such codes. */
export function* findNumbers(text: string): Generator<Encoded> {
  if (!numbersMarks.test(text)) return
  for (const { 0: numbers, index } of text.matchAll(numbersPattern)) {
    const plain = String.fromCharCode(...numbers.match(/0x[\da-f]{2}|\d{2,3}/gi)!.map(Number))
    if (/[a-z]{3}/i.test(plain)) yield { text: plain, start: index, end: index + numbers.length, form: 'numbers' }
  }
}

const seamPattern = /["'`]\s?\+\s?["'`]|(?<=\w)(?:''|"")(?=\w)|(?<=\w)\^(?=\w)/g
const seamMarks = ["'+'", "' + '", '"+"', '" + "', '`+`', '` + `', "''", '""', '^'] as const
const seamsMin = 2
/** Shorter pieces are not wrapped lines of a long string. */
const pieceCharactersMax = 8

/** Joins strings and commands that are concatenated from small pieces. */
export function* findConcatenated(text: string): Generator<Encoded> {
  for (const mark of seamMarks) {
    for (const { at, end, line } of linesWith(text, mark)) {
      const pieces = line.split(seamPattern)
      const isSmall = pieces.slice(1, -1).every(({ length }) => length <= pieceCharactersMax)
      if (pieces.length > seamsMin && isSmall) {
        yield { text: pieces.join(''), start: at, end, form: 'concatenation' }
      }
    }
  }
}

const reversingPattern = /\[::-1\]|\| ?rev\b|\.reverse\(\)|strrev|reversed\(/g
const stringPattern = /(["'`])(?<inner>[^"'`\n]{8,1000})\1/g
const aroundCharacters = 600
const aroundTimesMax = 50

/** Reverses strings near code that reverses strings. */
export function* findReversedStrings(text: string): Generator<Encoded> {
  let [last, times] = [0, 0]
  for (const { index } of text.matchAll(reversingPattern)) {
    if (index < last) continue
    if (++times > aroundTimesMax) return
    const start = Math.max(index - aroundCharacters, last)
    last = index + aroundCharacters
    for (const { groups, index: at } of text.slice(start, last).matchAll(stringPattern)) {
      const plain = [...groups!.inner!].toReversed().join('')
      yield { text: plain, start: start + at, end: start + at + groups!.inner!.length + 2, form: 'reversed' }
    }
  }
}

/** A text of Latin letters alone has none of these, and is skipped. */
const bitsMarks = /[\u200b-\u200d\u2060-\u2064\ufeff]|[\ufe00-\ufe0f]|\udb40/
const bitsPattern = /[\u200b-\u200d\u2060-\u2064\ufeff]{24,}/g
const selectorsPattern = /(?:[\ufe00-\ufe0f]|\udb40[\udd00-\uddef]){6,}/g

/** Decodes bytes from invisible characters: a bit in each of two, or a byte in each variation selector. */
export function* findBits(text: string): Generator<Encoded> {
  if (!bitsMarks.test(text)) return
  for (const { 0: run, index } of text.matchAll(bitsPattern)) {
    for (const zero of new Set(run)) {
      const bits = run.replace(/[^]/g, (unit) => (unit === zero ? '0' : '1')).match(/[01]{8}/g)!
      const plain = String.fromCharCode(...bits.slice(0, 8192).map((byte) => parseInt(byte, 2)))
      if (!/^[\t\n\r -~]+$/.test(plain)) continue
      yield { text: plain, start: index, end: index + run.length, form: 'zero-width' }
    }
  }
  for (const { 0: run, index } of text.matchAll(selectorsPattern)) {
    const points = Array.from(run, (one) => one.codePointAt(0)!)
    const plain = Buffer.from(points.map((point) => point - (point > 0xffff ? 0xe0100 - 16 : 0xfe00))).toString()
    yield { text: plain, start: index, end: index + run.length, form: 'variation-selectors' }
  }
}

/** The lines with a mark, and the position of the mark. Of long lines, only the part around the mark. */
function* linesWith(text: string, mark: string): Generator<{ at: number; end: number; line: string }> {
  for (let at = text.indexOf(mark); at !== -1;) {
    // Search nothing beyond the limit: a text of one line may hold millions of marks.
    const from = Math.max(0, at - lineCharactersMax / 2)
    const start = from + text.slice(from, at + 1).lastIndexOf('\n') + 1
    const to = Math.min(text.length, at + lineCharactersMax / 2)
    const next = text.slice(at, to).indexOf('\n')
    const end = next === -1 ? to : at + next
    yield { at, end, line: text.slice(start, end) }
    at = text.indexOf(mark, Math.max(end, at + 1))
  }
}
