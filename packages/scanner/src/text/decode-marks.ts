import type { Encoded } from './decode.ts'
import { reversedMarks as reversedSentences } from './decode-spelling.ts'
import { ShortTextFinder } from './short-text-finder.ts'
import { regexWith } from './regex.ts'

/** Characters of a line that are decoded around escapes. */
const lineCharactersMax = 4096

interface Escape {
  readonly form: string
  /** A string that every escape of the kind contains; texts without it are skipped. */
  readonly mark: string
  /** Minimum number of unnecessary escapes in a row or on a line. */
  readonly timesMin: number
  readonly pattern: RegExp
  readonly base: 8 | 10 | 16
}

/** Escapes of letters and digits, which never need one: other escapes are part of each format's normal use. */
const escapes: readonly Escape[] = [
  { form: 'url', mark: '%', timesMin: 3, pattern: /%(?<code>[2-7][\da-f])/gi, base: 16 },
  { form: 'html', mark: '&#', timesMin: 3, pattern: /&#x0{0,4}(?<code>[2-7][\da-f]);?/gi, base: 16 },
  { form: 'html', mark: '&#', timesMin: 3, pattern: /&#0{0,4}(?<code>3[2-9]|[4-9]\d|1[01]\d|12[0-6]);?/g, base: 10 },
  { form: 'hex', mark: '\\x', timesMin: 4, pattern: /\\x(?<code>[2-7][\da-f])/gi, base: 16 },
  {
    form: 'unicode',
    mark: '\\u',
    timesMin: 3,
    pattern: /\\u(?:00(?<code>[2-7][\da-f])|\{0{0,4}(?<braced>[2-7][\da-f])\})/gi,
    base: 16,
  },
  { form: 'quoted-printable', mark: '=6', timesMin: 6, pattern: /=(?<code>[2-7][\dA-F])/g, base: 16 },
  { form: 'octal', mark: '\\1', timesMin: 4, pattern: /\\(?<code>0?[4-7][0-7]|1[0-7]{2})/g, base: 8 },
]

/** Finds lines with escaped letters, and decodes them. */
export function* findEscaped(text: string): Generator<Encoded> {
  for (const { form, mark, timesMin, pattern, base } of escapes) {
    let at = text.indexOf(mark)
    while (at !== -1) {
      const { start, end, line } = toLine(text, at)
      let letters = 0
      const plain = line.replace(pattern, (...found) => {
        const { code, braced } = found.at(-1) as { code?: string; braced?: string }
        const character = String.fromCharCode(parseInt(code ?? braced!, base))
        letters += Number(/[a-z\d]/i.test(character))
        return character
      })
      if (letters >= timesMin) yield { text: plain, start: at, end, form, isHidden: true }
      at = text.indexOf(mark, Math.max(end, at + 1, start))
    }
  }
}

/** Sequences of character codes, with or without a function call around each. */
const numbersPattern = regexWith('gi')`((chr|char|\[char\])?\s?\(?\s?(0x[2-7][\da-f]|
  3[2-9]|[4-9]\d|1[01]\d|12[0-6])\s?\)?\s?[,+.&]\s?){7,4000}(chr|\[char\])?\s?\(?\s?(0x[2-7][\da-f]|3[2-9]|[4-9]\d|
  1[01]\d|12[0-6])\b`
const numbersMarks = [
  'CharCode',
  'charcode',
  'CodePoint',
  'chr(',
  '[char',
  '[Char',
  'bytes(',
  'bytearray(',
  'Uint8Array',
]

/** Decodes character codes, in texts that mention a conversion of such codes. */
export function* findNumbers(text: string, marks: ReadonlySet<string>): Generator<Encoded> {
  if (!numbersMarks.some((mark) => marks.has(mark))) return
  for (const { 0: numbers, index } of text.matchAll(numbersPattern)) {
    const codes = numbers.match(/0x[\da-f]{2}|\d{2,3}/gi)!.map(Number)
    const plain = String.fromCharCode(...codes)
    if (/[a-z]{3}/i.test(plain)) {
      yield { text: plain, start: index, end: index + numbers.length, form: 'numbers', isHidden: true }
    }
  }
}

const seamPattern = /["'`]\s?\+\s?["'`]|(?<=\w)(?:''|"")(?=\w)|(?<=\w)\^(?=\w)/g
const seamMarks = ["'+'", "' + '", '"+"', '" + "', '`+`', '` + `'] as const
const shortSeamMarks = ["''", '""', '^'] as const
const seamsMin = 2
/** Shorter pieces are not wrapped lines of a long string. */
const pieceCharactersMax = 8

/** Joins strings and commands that are concatenated from small pieces. */
export function* findConcatenated(text: string, marks: ReadonlySet<string>): Generator<Encoded> {
  const found = [...seamMarks.filter((mark) => marks.has(mark)), ...shortSeamMarks]
  for (const mark of found) {
    for (let at = text.indexOf(mark); at !== -1;) {
      const { end, line } = toLine(text, at)
      const pieces = line.split(seamPattern)
      const isSmall = pieces.slice(1, -1).every(({ length }) => length <= pieceCharactersMax)
      if (pieces.length > seamsMin && isSmall) {
        yield { text: pieces.join(''), start: at, end, form: 'concatenation', isHidden: true }
      }
      at = text.indexOf(mark, Math.max(end, at + 1))
    }
  }
}

const rotatedMarks = ['rot13', 'rot_13', 'rot-13', 'ROT13', 'ROT-13', 'ROT 13', 'n-za-m', 'N-ZA-M'] as const

/** Decodes the text around a mention of ROT13. */
export function* findRotated(text: string, marks: ReadonlySet<string>): Generator<Encoded> {
  for (const { at, start, end } of around(
    text,
    rotatedMarks.filter((mark) => marks.has(mark)),
  )) {
    const plain = text.slice(start, end).replace(/[a-z]/gi, (letter) => {
      const first = letter <= 'Z' ? 65 : 97
      return String.fromCharCode(((letter.charCodeAt(0) - first + 13) % 26) + first)
    })
    yield { text: plain, start: at, end, form: 'rot13', isHidden: true }
  }
}

const reversedMarks = ['[::-1]', '| rev', '|rev', '.reverse()', 'strrev', 'reversed('] as const
const stringPattern = /(["'`])(?<inner>[^"'`\n]{8,1000})\1/g

/** Reverses strings near code that reverses strings. */
export function* findReversed(text: string, marks: ReadonlySet<string>): Generator<Encoded> {
  for (const { start, end } of around(
    text,
    reversedMarks.filter((mark) => marks.has(mark)),
  )) {
    for (const { groups, index } of text.slice(start, end).matchAll(stringPattern)) {
      const plain = [...groups!.inner!].toReversed().join('')
      const at = start + index
      yield { text: plain, start: at, end: at + plain.length + 2, form: 'reversed', isHidden: true }
    }
  }
}

const aroundCharacters = 600
const aroundTimesMax = 50

/** Non-overlapping ranges around marks, a limited number of each. */
function around(text: string, marks: readonly string[]): { at: number; start: number; end: number }[] {
  const spans: { at: number; start: number; end: number }[] = []
  for (const mark of marks) {
    let last = 0
    for (let at = text.indexOf(mark); at !== -1 && spans.length < aroundTimesMax;) {
      const end = Math.min(at + aroundCharacters, text.length)
      spans.push({ at, start: Math.max(at - aroundCharacters, last), end })
      last = end
      at = text.indexOf(mark, end)
    }
  }
  return spans
}

const bitsPattern = /[\u200b-\u200d\u2060-\u2064\ufeff]{24,}/g
const selectorsPattern = /(?:[\ufe00-\ufe0f]|\udb40[\udd00-\uddef]){6,}/g

/** A text of Latin letters alone contains none of these, and is skipped. */
const bitsMarks = ['\u200b', '\u200c', '\u200d', '\u2060', '\u2063', '\ufeff', '\ufe0e', '\ufe0f', '\udb40'] as const

/** Decodes bytes from invisible characters: a bit in each of two, or a byte in each variation selector. */
export function* findBits(text: string, marks: ReadonlySet<string>): Generator<Encoded> {
  if (!bitsMarks.some((mark) => marks.has(mark))) return
  for (const { 0: run, index } of text.matchAll(bitsPattern)) {
    const [zero] = run
    for (const isZero of [(unit: string) => unit === zero, (unit: string) => unit !== zero]) {
      const bits = run.replace(/[^]/g, (unit) => (isZero(unit) ? '0' : '1'))
      const plain = (bits.match(/[01]{8}/g) ?? []).map((byte) => String.fromCharCode(parseInt(byte, 2))).join('')
      if (/^[\t\n\r -~]+$/.test(plain)) {
        yield { text: plain, start: index, end: index + run.length, form: 'zero-width', isHidden: true }
      }
    }
  }
  for (const { 0: run, index } of text.matchAll(selectorsPattern)) {
    const bytes = [...run]
      .map((one) => one.codePointAt(0)!)
      .map((point) => (point > 0xffff ? point - 0xe0100 + 16 : point - 0xfe00))
    const plain = Buffer.from(bytes).toString()
    yield { text: plain, start: index, end: index + run.length, form: 'variation-selectors', isHidden: true }
  }
}

function toLine(text: string, at: number): { start: number; end: number; line: string } {
  // Search nothing beyond the limit: a text of one line may hold millions of marks.
  const from = Math.max(0, at - lineCharactersMax / 2)
  const start = from + text.slice(from, at + 1).lastIndexOf('\n') + 1
  const to = Math.min(text.length, at + lineCharactersMax / 2)
  const next = text.slice(at, to).indexOf('\n')
  const end = next === -1 ? to : at + next
  return { start, end, line: text.slice(start, end) }
}

/** The marks that a text must contain before most of the functions above examine it. */
export const decodeMarks = new ShortTextFinder([
  ...new Set([...numbersMarks, ...seamMarks, ...rotatedMarks, ...reversedMarks, ...reversedSentences, ...bitsMarks]),
])
