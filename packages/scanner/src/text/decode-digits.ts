import type { Encoded } from './decode.ts'
import type { Match } from './spans.ts'
import { decodeRun, isInRun, runCharactersMax } from './decode-runs.ts'

/** Minimum number of digits or numbers that are decoded without any other sign. */
const bytesPattern = /(?<![\w.])(?:[01]{8}[ ,]?){8,65536}(?!\w)/g
const pairsPattern = /(?<![\w.])(?:[\da-f]{2}[ :,]\s{0,8}){11,65536}[\da-f]{2}(?!\w)/gi
const codesPattern =
  /(?<![\w.])(?:(?:9|10|13|3[2-9]|[4-9]\d|1[01]\d|12[0-6])(?:,\s{0,8}|\s)){15,65536}(?:10|3[2-9]|[4-9]\d|1[01]\d|12[0-6])(?![\w.])/g
const uuencodePattern = /^begin(?:-base64)? [0-7]{3,4} [^\n]{1,200}\r?\n((?:[!-`][^\n]{1,90}\r?\n){1,100000})/gm

/** What the digits must decode to: at least two words. */
const wordsPattern = /[a-z]{3}[^]{0,40}[a-z]{3}/i
const textPattern = /^[\t\n\r -~\u00a0-\uffff]+$/

interface Digits {
  readonly form: string
  /** A cheap test that fails for most texts. */
  readonly sign: RegExp
  readonly pattern: RegExp
  read(found: RegExpExecArray): string
}

const fromBytes = (numbers: Iterable<number>) => Buffer.from([...numbers]).toString()
const toNumbers = (text: string, pattern: RegExp, base: number) =>
  (text.match(pattern) ?? []).map((digits) => Number.parseInt(digits, base))

const kinds: readonly Digits[] = [
  {
    form: 'binary',
    sign: /[01]{8}[ ,]?[01]{8}[ ,]?[01]{8}/,
    pattern: bytesPattern,
    read: ([found]) => fromBytes(toNumbers(found, /[01]{8}/g, 2)),
  },
  {
    form: 'hex',
    // Three letters in a row; begins with a digit, which is rarer than a space.
    sign: /[4-7][\da-f][ :,]\s{0,8}[4-7][\da-f][ :,]\s{0,8}[4-7][\da-f]/i,
    pattern: pairsPattern,
    read: ([found]) => fromBytes(toNumbers(found, /[\da-f]{2}/gi, 16)),
  },
  {
    form: 'numbers',
    sign: /\d{2},?\s{0,8}\d{2,3},?\s{0,8}\d{2,3},?\s{0,8}\d{2,3},?\s/,
    pattern: codesPattern,
    read: ([found]) => fromBytes(toNumbers(found, /\d+/g, 10)),
  },
  {
    form: 'uuencode',
    sign: /begin(?:-base64)? [0-7]{3}/,
    pattern: uuencodePattern,
    read: (found) => readUuencode(found[1]!),
  },
]

/** Decodes texts that are written as numbers of their bytes or by uuencode. */
export function* findDigits(text: string): Generator<Encoded> {
  for (const { form, sign, pattern, read } of kinds) {
    if (!sign.test(text)) continue
    for (const found of text.matchAll(pattern)) {
      const plain = read(found)
      if (!textPattern.test(plain) || !wordsPattern.test(plain)) continue
      yield { text: plain, start: found.index, end: found.index + found[0].length, form, isHidden: true }
    }
  }
}

/** Lines of a length and four characters for every three bytes (POSIX, uuencode). */
function readUuencode(lines: string): string {
  const parts = lines.split(/\r?\n/).map((line) => {
    const sextets = Uint8Array.from(line, (character) => (character.charCodeAt(0) - 32) & 63)
    const bytes = Buffer.alloc(Math.ceil(((sextets.length - 1) * 3) / 4) + 3)
    for (let at = 1, to = 0; at < sextets.length; at += 4, to += 3) {
      const [a = 0, b = 0, c = 0, d = 0] = sextets.subarray(at, at + 4)
      bytes.writeUIntBE((a << 18) | (b << 12) | (c << 6) | d, to, 3)
    }
    return bytes.subarray(0, sextets[0] ?? 0)
  })
  return Buffer.concat(parts).toString()
}

const pieceCharactersMin = 4
const pieceCharactersMax = 64
const piecesMin = 5
const tasteCharacters = 128
/** Maximum number of characters between two pieces, such as quote marks, commas, signs and white space. */
const gapCharactersMax = 12
const isGap = new Uint8Array(256)
for (const character of ' \t\r\n"\'`,+;=\\') isGap[character.charCodeAt(0)] = 1

/** 1 for the digits of base64 and hex, 2 for what may be between two pieces, by the low byte of a code unit. */
const pieceClasses = Uint8Array.from({ length: 256 }, (_, unit) =>
  isInRun[unit] === 1 ? 1 : isGap[unit] === 1 ? 2 : 0,
)

/** Decodes base64 and hex in pieces of one length, separated by white space, quote marks or commas. */
export function* findPieces(text: string, _: unknown, units: Uint16Array): Generator<Encoded> {
  for (const { start, end } of findEqualRuns(units)) yield* decodePieces(text, start, end)
}

/** Finds runs of one length, of digits of base64 and hex. */
function findEqualRuns(units: Uint16Array): Match[] {
  const end = units.length - 1
  const found: Match[] = []
  let first = 0
  let length = 0
  let count = 0
  let last = 0
  for (let at = 0; at < end;) {
    const start = at
    while (pieceClasses[units[at]! & 0xff] === 1) at++
    const size = at - start
    if (size === length && size > 0) count++
    else {
      // The last piece may be shorter.
      if (count >= piecesMin) found.push({ start: first, end: size < length ? at : last })
      const isPiece = size >= pieceCharactersMin && size <= pieceCharactersMax
      first = start
      length = isPiece ? size : 0
      count = Number(isPiece)
    }
    last = at
    while (pieceClasses[units[at]! & 0xff] === 2) at++
    if (at - last > gapCharactersMax || pieceClasses[units[at]! & 0xff] === 0) {
      // Another character, or a wide gap, ends the pieces.
      if (count >= piecesMin) found.push({ start: first, end: last })
      length = 0
      count = 0
      while (at < end && pieceClasses[units[at]! & 0xff] !== 1) at++
    }
  }
  if (count >= piecesMin) found.push({ start: first, end: last })
  return found
}

function* decodePieces(text: string, start: number, end: number): Generator<Encoded> {
  const taste = text.slice(start, start + tasteCharacters)
  // Words of one length have no capitals and no digits.
  if (!/[A-Z\d]/.test(taste)) return
  const found = decodeRun(text.slice(start, Math.min(end, start + runCharactersMax)).replace(/[^A-Za-z\d+/_-]/g, ''))
  if (found) yield { ...found, start, end, isHidden: true }
}
