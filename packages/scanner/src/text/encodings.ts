import { unzipSync } from 'node:zlib'

/** A decoded text and its encoding. */
export interface Encoded {
  readonly text: string
  readonly start: number
  readonly end: number
  readonly form: string
  /** Whether the encoding has a legitimate use. Default: false. */
  readonly isUsual?: boolean
  /** The passage as written, if the text is its usual spelling. */
  readonly spelled?: string
}

/**
 * Functions that find and decode encoded passages in a text: runs of base64 or hex digits; escapes and concatenations,
 * line by line; character codes and invisible characters; reversed strings; and words in unusual spellings.
 */
export const decoders: readonly ((text: string) => Generator<Encoded>)[] = [
  findRuns,
  findLines,
  findEncodedPassages,
  findReversedStrings,
  findSpelled,
]

const runCharactersMin = 20
/** Minimum length of a run that may continue on the next line. */
const wrappedCharactersMin = 40
/** Maximum number of characters of a run that are decoded. */
const runCharactersMax = 1024 * 1024
const inflatedBytesMax = 256 * 1024
/** Number of characters that decide whether a run is worth decoding. */
const tasteCharacters = 64

/** By character code: 1 for the digits of base64, base64url and hex. */
const isInRun = new Uint8Array(65_536)
for (const unit of Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_')) isInRun[unit] = 1

/** Decodes texts in base64 (also base64url and wrapped) and in plain hexadecimal digits. */
function* findRuns(text: string): Generator<Encoded> {
  for (let start = findRun(text, 0); start < text.length;) {
    let end = start
    while (isInRun[text.charCodeAt(end)] === 1) end++
    if (end - start >= wrappedCharactersMin) end = findWrappedEnd(text, start, end)
    const found = decodeRun(text.slice(start, end))
    if (found) yield { ...found, start, end }
    start = findRun(text, end)
  }
}

/**
 * Finds the start of the next run. Jumps ahead by the minimum length of a run, because every run covers one of these
 * positions. This is ten times as fast as a regular expression.
 */
function findRun(text: string, from: number): number {
  let at = from + runCharactersMin - 1
  while (at < text.length) {
    let start = at
    while (start >= from && isInRun[text.charCodeAt(start)] === 1 && at - start < runCharactersMin) start--
    if (at - start === runCharactersMin || start < from) return start + 1
    at = start + runCharactersMin
  }
  return text.length
}

/**
 * Finds the end of a run that is wrapped over several lines. Its first line ends at `lineEnd`; the directly following
 * lines of base64 or hex digits belong to it too.
 */
function findWrappedEnd(text: string, start: number, lineEnd: number): number {
  let end = lineEnd
  while (end - start < runCharactersMax) {
    wrapPattern.lastIndex = end
    const next = wrapPattern.exec(text)
    if (!next) return end
    end = wrapPattern.lastIndex
  }
  return end
}

const wrapPattern =
  /["']?[ \t]{0,2}\\?\r?\n[ \t]{0,16}["']?[A-Za-z0-9+/_-]{4,512}={0,6}(?=["']?[ \t]*\\?(?:\r?\n|$|["')]))/y

/** Decodes hex or base64; undefined if the result is not a text. */
function decodeRun(run: string): { text: string; form: string } | undefined {
  const compact = run.replace(/[\s"'\\]/g, '').replace(/^0x(?=[\da-f]+$)/i, '')
  const isHex = compact.length % 2 === 0 && /^[\da-f]+$/i.test(compact)
  for (const form of isHex ? (['hex', 'base64'] as const) : (['base64'] as const)) {
    const text = decodeEncodedRun(form, compact)
    if (text !== undefined) return { text, form }
  }
  return undefined
}

function decodeEncodedRun(encoding: 'base64' | 'hex', run: string): string | undefined {
  const taste = Buffer.from(run.slice(0, tasteCharacters), encoding)
  const [first, second = 0] = taste
  const isDeflated = first === 0x78 ? [0x01, 0x5e, 0x9c, 0xda].includes(second) : first === 0x1f && second === 0x8b
  if (isDeflated) return inflateText(Buffer.from(run, encoding))
  const isWide = taste.length >= 8 && taste.every((byte, index) => index % 2 === 0 || byte === 0)
  const decode = (bytes: Buffer) => bytes.toString(isWide ? 'utf16le' : 'utf8')
  // The last character of the sample may be cut in half.
  if (!isReadableText(decode(taste).slice(0, -1))) return undefined
  const text = decode(Buffer.from(run.slice(0, runCharactersMax), encoding))
  return isReadableText(text) ? text : undefined
}

function inflateText(bytes: Buffer): string | undefined {
  try {
    const text = unzipSync(bytes, { maxOutputLength: inflatedBytesMax }).toString()
    return isReadableText(text) ? text : undefined
  } catch {
    return undefined
  }
}

const unreadableShareMax = 0.02
const unreadablePattern = /[^\P{Cc}\t\n\r]|\ufffd/gu

/** Whether a decoded text is really text: almost no characters that never occur in text. */
function isReadableText(text: string): boolean {
  if (!/[a-z]{3}/i.test(text)) return false
  return (text.match(unreadablePattern)?.length ?? 0) <= text.length * unreadableShareMax
}

/** A way of writing that is read line by line. */
interface LineForm {
  readonly form: string
  /** Strings of which every such line contains one; other lines are skipped. */
  readonly marks: readonly string[]
  /** Decodes a line; undefined if the line is not written in this way. */
  read(line: string): string | undefined
}

/**
 * Escapes of letters and digits, which never need one: other escapes are part of each format's normal use. `timesMin`:
 * minimum number of them on a line.
 */
function toEscape(form: string, mark: string, timesMin: number, radix: number, pattern: RegExp): LineForm {
  return {
    form,
    marks: [mark],
    read(line) {
      let letters = 0
      const plain = line.replace(pattern, (_, digits: string) => {
        const character = String.fromCharCode(parseInt(digits, radix))
        // In URLs, spaces have to be escaped.
        letters += Number(/[a-z\d]/i.test(character) || (character === ' ' && form !== 'url'))
        return character
      })
      return letters >= timesMin ? plain : undefined
    },
  }
}

const seamPattern = /["'`]\s?\+\s?["'`]|(?<=\w)(?:''|"")(?=\w)|(?<=\w)\^(?=\w)/g
/** Maximum length of a piece of a concatenation: longer pieces may be the wrapped lines of a long string. */
const pieceCharactersMax = 8

const lineForms: readonly LineForm[] = [
  toEscape('url', '%', 3, 16, /%([2-7][\da-f])/gi),
  toEscape('html', '&#', 3, 16, /&#x0{0,4}([2-7][\da-f]);?/gi),
  toEscape('html', '&#', 3, 10, /&#0{0,4}(3[2-9]|[4-9]\d|1[01]\d|12[0-6]);?/g),
  toEscape('hex', '\\x', 4, 16, /\\x([2-7][\da-f])/gi),
  toEscape('unicode', '\\u', 3, 16, /\\u(?:00|\{0{0,4}(?=[\da-f]{2}\}))([2-7][\da-f])\}?/gi),
  toEscape('octal', '\\1', 4, 8, /\\(0?[4-7][0-7]|1[0-7]{2})/g),
  {
    // Strings and commands that are concatenated from small pieces.
    form: 'concatenation',
    marks: ["'+'", "' + '", '"+"', '" + "', '`+`', '` + `', "''", '""', '^'],
    read(line) {
      const pieces = line.split(seamPattern)
      const isSmall = pieces.slice(1, -1).every(({ length }) => length <= pieceCharactersMax)
      return pieces.length > 2 && isSmall ? pieces.join('') : undefined
    },
  },
]

function* findLines(text: string): Generator<Encoded> {
  for (const { form, marks, read } of lineForms) {
    for (const mark of marks) {
      for (const { at, end, line } of linesWith(text, mark)) {
        const plain = read(line)
        if (plain !== undefined) yield { text: plain, start: at, end, form }
      }
    }
  }
}

/** Maximum number of characters of a line that are decoded, half of them before a mark. */
const lineCharactersMax = 4096

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

const code = String.raw`(?:0x[2-7][\da-f]|3[2-9]|[4-9]\d|1[01]\d|12[0-6])`
/** A function call around a code. A space can match at one place only, so that the match takes linear time. */
const call = String.raw`(?:(?:chr|char|\[char\])\s?)?(?:\(\s?)?`
/** A text without any of these characters, such as one of Latin letters alone, is skipped. */
const unseen = /[\u200b-\u200d\u2060-\u2064\ufeff]|[\ufe00-\ufe0f]|\udb40/

/**
 * Encodings of passages, in texts that match `mark`; `read` returns undefined if the result is no text. The patterns
 * are bounded, because a match of millions of characters overflows the stack of the regular expression.
 */
const passageForms: readonly {
  readonly form: string
  readonly mark: RegExp
  readonly pattern: RegExp
  readonly read: (passage: string) => string | undefined
}[] = [
  {
    // Character codes, with or without a function call around each, in texts that mention a conversion of such codes.
    form: 'numbers',
    mark: /char(?:code|\])|codepoint|(?:chr|bytes|bytearray)\(|uint8array/i,
    pattern: new RegExp(String.raw`(?:${call}${code}(?:\s?\))?\s?[,+.&]\s?){7,4000}${call}${code}\b`, 'gi'),
    read(passage) {
      const plain = String.fromCharCode(...passage.match(/0x[\da-f]{2}|\d{2,3}/gi)!.map(Number))
      return /[a-z]{3}/i.test(plain) ? plain : undefined
    },
  },
  {
    // Two invisible characters stand for the bits 0 and 1.
    form: 'zero-width',
    mark: unseen,
    pattern: /[\u200b-\u200d\u2060-\u2064\ufeff]{24,65536}/g,
    read: (passage) =>
      [...new Set(passage)].map((zero) => toBytesOfBits(passage, zero)).find((plain) => /^[\t\n\r -~]+$/.test(plain)),
  },
  {
    // Each variation selector stands for a byte.
    form: 'variation-selectors',
    mark: unseen,
    pattern: /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]{6,65536}/gu,
    read(passage) {
      const points = Array.from(passage, (one) => one.codePointAt(0)!)
      return Buffer.from(points.map((point) => point - (point > 0xffff ? 0xe0100 - 16 : 0xfe00))).toString()
    },
  },
]

function toBytesOfBits(passage: string, zero: string): string {
  const bits = passage.replaceAll(zero, '0').replace(/[^0]/g, '1').match(/.{8}/g)!
  return String.fromCharCode(...bits.slice(0, 8192).map((byte) => parseInt(byte, 2)))
}

const formsByMark = Map.groupBy(passageForms, ({ mark }) => mark)

function* findEncodedPassages(text: string): Generator<Encoded> {
  const found = [...formsByMark].flatMap(([mark, forms]) => (mark.test(text) ? forms : []))
  for (const { form, pattern, read } of found) {
    for (const { 0: passage, index } of text.matchAll(pattern)) {
      const plain = read(passage)
      if (plain !== undefined) yield { text: plain, start: index, end: index + passage.length, form }
    }
  }
}

/** The expression finds `rev` first, which is faster than the alternatives as they are written. */
const reversingPattern = /\[::-1\]|rev(?:(?<=\| ?rev)\b|(?<=\.rev)erse\(\)|(?<=strrev)|ersed\()/g
const stringPattern = /(["'`])(?<inner>[^"'`\n]{8,1000})\1/g
const aroundCharacters = 600
const aroundTimesMax = 50

/** Reverses strings near code that reverses strings. */
function* findReversedStrings(text: string): Generator<Encoded> {
  let [last, times] = [0, 0]
  for (const { index } of text.matchAll(reversingPattern)) {
    if (index < last) continue
    if (++times > aroundTimesMax) return
    const start = Math.max(index - aroundCharacters, last)
    last = index + aroundCharacters
    for (const { groups, index: at } of text.slice(start, last).matchAll(stringPattern)) {
      yield {
        text: reverseText(groups!.inner!),
        start: start + at,
        end: start + at + groups!.inner!.length + 2,
        form: 'reversed',
      }
    }
  }
}

/** A spelling of words that an agent reads like the usual spelling, but that expressions do not match. */
interface Spelling {
  readonly form: string
  /** A passage is read in the usual spelling if it has at least `signsMin` matches of `sign`. */
  readonly sign: RegExp
  readonly signsMin: number
  /** Whether the spelling has a legitimate use. */
  readonly isUsual: boolean
  /** Returns the usual spelling. */
  read(passage: string): string
}

const inlineNames =
  'b|i|u|s|em|strong|span|a|font|mark|small|big|sub|sup|code|kbd|wbr|ins|del|bdi|bdo|q|abbr|tt|label|tspan'
const inlineTag = String.raw`</?(?:${inlineNames}|w:\w{1,20})(?:\s[^<>]{0,200})?/?>`
const comment = String.raw`<!--(?:(?!-->)[^]){0,200}-->|/\*[^*]{0,80}\*/`
const tag = String.raw`<[a-z/!?][^<>]{0,400}>`
const inlineMarks = new RegExp(`(?!</w:p>)${inlineTag}|${comment}`, 'gi')
const blockMarks = new RegExp(String.raw`${tag}|<!\[CDATA\[|\]\]>`, 'gi')
const markup = { form: 'markup', read: removeMarks } as const

/** Only texts that match can be reversed or in ROT13: a fast test for a few of the words below. */
const twisted = / (?:eht|dna|htiw|gur|naq|jvgu) |\/\/:|uggc/
/** Words of sentences and commands, written backwards or in ROT13. They occur in no other text. */
const reversedWords =
  /(?<![a-z])(?:eht|dna|lla|ruoy|morf|htiw|siht|elif|nur|resu)(?![a-z])|ptth|lruc|hsab|tegw|noit|erongi/gi
const rotatedWords =
  /(?<![a-z])(?:gur|naq|nyy|lbhe|sebz|jvgu|guvf|svyr|eha|hfre)(?![a-z])|uggcf?:|phey|onfu|jtrg|gvba|vtaber/gi

const markedUp: readonly Spelling[] = [
  {
    ...markup,
    sign: new RegExp(`[A-Za-z](?:${inlineTag}|${comment})+[A-Za-z]`, 'gi'),
    signsMin: 2,
    isUsual: false,
  },
  {
    ...markup,
    sign: new RegExp(String.raw`>\s?[^<>\s]{1,60}\s?(?:${tag}\s?){2,6}[^<>\s]{1,60}\s?<`, 'gi'),
    signsMin: 3,
    isUsual: true,
  },
]
const spellings: readonly Spelling[] = [
  ...markedUp,
  {
    form: 'reversed',
    sign: reversedWords,
    signsMin: 2,
    isUsual: false,
    read: (passage) => passage.split('\n').map(reverseText).join('\n'),
  },
  {
    form: 'rot13',
    sign: rotatedWords,
    signsMin: 2,
    isUsual: false,
    read: rotateText,
  },
]

/** Finds passages in unusual spellings: words that markup splits or separates, and sentences reversed or in ROT13. */
function* findSpelled(text: string): Generator<Encoded> {
  for (const { form, sign, signsMin, isUsual, read } of twisted.test(text) ? spellings : markedUp) {
    if (!hasSigns(text, sign, signsMin)) continue
    for (const { start, passage } of toPassages(text)) {
      if (!hasSigns(passage, sign, signsMin)) continue
      const place = { start: start + passage.search(sign), end: start + passage.length }
      yield { text: read(passage), spelled: passage, ...place, form, isUsual }
    }
  }
}

function hasSigns(text: string, sign: RegExp, signsMin: number): boolean {
  let count = 0
  sign.lastIndex = 0
  while (count < signsMin && sign.test(text)) count++
  return count === signsMin
}

/** Maximum length of a passage that is read at once, and the overlap of a passage with the next one. */
const passageCharactersMax = 16_384
const overlapCharacters = 512

/** Cuts a text at its blank lines, and longer passages into overlapping pieces. */
function* toPassages(text: string): Generator<{ start: number; passage: string }> {
  let start = 0
  for (const part of text.split(/(\n\s*\n)/)) {
    for (let at = 0; at < part.length; at += passageCharactersMax - overlapCharacters) {
      yield { start: start + at, passage: part.slice(at, at + passageCharactersMax) }
      if (at + passageCharactersMax >= part.length) break
    }
    start += part.length
  }
}

function removeMarks(passage: string): string {
  return passage
    .replace(inlineMarks, '')
    .replace(blockMarks, ' ')
    .replace(/&(?:amp|#38);/g, '&')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/[ \t]{2,}/g, ' ')
}

/** The characters of a text in reverse order. */
export function reverseText(text: string): string {
  return [...text].toReversed().join('')
}

/** ROT13: moves each letter by half of the alphabet. */
export function rotateText(text: string): string {
  return text.replace(/[a-z]/gi, (letter) => {
    const first = letter <= 'Z' ? 65 : 97
    return String.fromCharCode(((letter.charCodeAt(0) - first + 13) % 26) + first)
  })
}
