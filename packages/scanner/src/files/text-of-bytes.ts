import { withoutNoise } from './noise.ts'

/** Number of bytes that decide whether a file is text. */
const sampleBytes = 64 * 1024
/** Minimum share of UTF-16 code units with a zero byte: the letters, spaces and line ends of Latin scripts have one. */
const utf16ZerosMin = 0.05

/**
 * Returns the possible texts of bytes, each once: as UTF-8, and as UTF-16 if they have its byte order mark or its zero
 * bytes. Reads UTF-8 without the mark, because an interpreter skips the mark and runs the ASCII after it. Returns none
 * for no bytes.
 */
export function toTexts(bytes: Uint8Array): string[] {
  if (bytes.length === 0) return []
  const mark = findMark(bytes)
  const encoding = mark ?? findUtf16(bytes)
  const wide = encoding ? [new TextDecoder(encoding).decode(bytes).replace(unshownCharacters, '')] : []
  return [...new Set([...wide, ...toUtf8Texts(mark ? bytes.subarray(2) : bytes)])]
}

/**
 * Returns the possible texts of bytes in UTF-8, with U+FFFD for invalid bytes, of which long runs are shortened. Shells
 * drop NUL and run the rest; other programs end strings at NUL. Other control characters separate words, or are ignored.
 */
export function toUtf8Texts(bytes: Uint8Array): string[] {
  const heard = withoutNoise(bytes)
  const shown = withoutUnshown(heard)
  const readings = [...(shown === heard ? [] : withoutZeros(heard).slice(1)), ...withoutZeros(shown)]
  return [...new Set(readings.map((each) => new TextDecoder().decode(each)))]
}

// oxlint-disable-next-line no-control-regex -- these are what is meant
const unshownCharacters = /[\0-\x08\x0e-\x1f\x7f]/g

/** The bytes without control characters; the given ones if they have none. `filter` takes 20 times as long. */
function withoutUnshown(bytes: Uint8Array): Uint8Array {
  let size = 0
  while (size < bytes.length && isUnshown[bytes[size]!] === 0) size++
  if (size === bytes.length) return bytes
  const shown = new Uint8Array(bytes)
  for (let at = size; at < bytes.length; at++) if (isUnshown[bytes[at]!] === 0) shown[size++] = bytes[at]!
  return shown.subarray(0, size)
}

/** 1 for control characters other than white space and NUL. */
const isUnshown = Uint8Array.from({ length: 256 }, (_, byte) =>
  Number((byte > 0 && byte < 0x09) || (byte > 0x0d && byte < 0x20) || byte === 0x7f),
)

/**
 * Returns the bytes without zeros (`joined`), and with a space for each zero that ends a string (`apart`): not for
 * zeros between letters of UTF-16.
 */
function withoutZeros(bytes: Uint8Array): [joined: Uint8Array, apart: Uint8Array] {
  if (!bytes.includes(0)) return [bytes, bytes]
  const [joined, apart] = [new Uint8Array(bytes.length), new Uint8Array(bytes.length)]
  let [joinedSize, apartSize] = [0, 0]
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]!
    if (byte !== 0) {
      joined[joinedSize++] = byte
      apart[apartSize++] = byte
    } else if (!isZero(bytes, at + 1) && !(isLetter(bytes, at - 1) && isLetter(bytes, at + 1))) {
      apart[apartSize++] = 0x20
    }
  }
  return [joined.subarray(0, joinedSize), apart.subarray(0, apartSize)]
}

/** Whether a position has a single byte between two zeros, or is outside of the bytes. */
function isLetter(bytes: Uint8Array, at: number): boolean {
  const isEnd = at < 0 || at >= bytes.length
  return isEnd || (!isZero(bytes, at) && isZero(bytes, at - 1) && isZero(bytes, at + 1))
}

/** Whether a position has a zero byte, or is outside of the bytes. */
function isZero(bytes: Uint8Array, at: number): boolean {
  return at < 0 || at >= bytes.length || bytes[at] === 0
}

/** Whether bytes are text, except for a few characters that do not occur in text. */
export function isText(bytes: Uint8Array): boolean {
  const sample = bytes.subarray(0, sampleBytes)
  const text = new TextDecoder(findMark(sample) ?? findUtf16(sample)).decode(sample)
  // In random bytes that pass for UTF-16, one in eight code units is not assigned.
  const odd = text.replace(plainCharacters, '').match(oddCharacter)?.length ?? 0
  return odd <= text.length * 0.05
}

/** Most of a text, in which the expression of odd characters is slow. */
const plainCharacters = /[\t-\r -~]+/g
const oddCharacter = /[^\P{Cc}\s]|[\p{Cn}\p{Co}\p{Cs}\uFFFD]/gu

/** All characters of texts, including invisible ones, which could split a word. */
const wordCharacter = String.raw`[[\t\n\r\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}\p{Cf}]--\uFFFD]`
/** Maximum length of one match: a match of millions of characters overflows the stack of the regular expression. */
const pieceCharactersMax = 65_536

/**
 * Extracts the runs of text from bytes that are mostly not text. Shortens runs of white space, with which XMP is
 * padded.
 */
export function toWords(text: string): string {
  const words = new RegExp(`${wordCharacter}{6,${pieceCharactersMax}}`, 'gv')
  const more = new RegExp(`${wordCharacter}{1,${pieceCharactersMax}}`, 'vy')
  const runs: string[] = []
  for (let found = words.exec(text); found; found = words.exec(text)) {
    let end = words.lastIndex
    if (found[0].length >= pieceCharactersMax) {
      more.lastIndex = end
      while (more.test(text)) end = more.lastIndex
      words.lastIndex = end
    }
    runs.push(text.slice(found.index, end))
  }
  return runs.join('\n').replace(/\s{3,}/g, '\n')
}

type Utf16 = 'utf-16le' | 'utf-16be'

function findMark(bytes: Uint8Array): Utf16 | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : undefined
}

/** Detects UTF-16 by the zero bytes of its letters. */
function findUtf16(bytes: Uint8Array): Utf16 | undefined {
  const sample = bytes.subarray(0, sampleBytes)
  let [even, odd] = [0, 0]
  for (let at = sample.indexOf(0); at !== -1; at = sample.indexOf(0, at + 1)) {
    if (at % 2 === 0) even += 1
    else odd += 1
  }
  if (even + odd === 0) return undefined
  const least = (sample.length / 2) * utf16ZerosMin
  if (odd >= least && odd > 4 * even) return 'utf-16le'
  return even >= least && even > 4 * odd ? 'utf-16be' : undefined
}
