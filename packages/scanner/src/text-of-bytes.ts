/** Number of bytes that decide whether a file is text. */
const sampleBytes = 64 * 1024
/** Minimum share of UTF-16 units with a zero byte: letters, spaces and line ends of Latin scripts. */
const utf16ZerosMin = 0.05

/**
 * The distinct texts that bytes may be read as: as UTF-8, and as UTF-16 if they have its byte order mark or zero bytes.
 * A mark alone proves nothing: it costs two bytes, and an interpreter skips it and runs the ASCII after it. Returns no
 * text for no bytes.
 */
export function toTexts(bytes: Uint8Array): string[] {
  if (bytes.length === 0) return []
  const mark = findMark(bytes)
  const encoding = mark ?? findUtf16(bytes)
  const wide = encoding ? [new TextDecoder(encoding).decode(bytes).replaceAll('\0', '')] : []
  return [...new Set([...wide, ...toUtf8Texts(mark ? bytes.subarray(2) : bytes)])]
}

/**
 * The texts that bytes may be read as in UTF-8, with replacement characters for invalid bytes. Shells drop NUL and run
 * the rest; other programs end strings at it.
 */
export function toUtf8Texts(bytes: Uint8Array): string[] {
  if (!bytes.includes(0)) return [new TextDecoder().decode(bytes)]
  const [joined, apart] = withoutZeros(bytes).map((each) => new TextDecoder().decode(each)) as [string, string]
  return apart === joined ? [joined] : [joined, apart]
}

/**
 * Removes zeros, and also replaces them with a space where strings end. Zeros between letters of UTF-16 are only
 * removed.
 */
function withoutZeros(bytes: Uint8Array): [joined: Uint8Array, apart: Uint8Array] {
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

/** Whether a single byte is between two zeros or ends of the text. */
function isLetter(bytes: Uint8Array, at: number): boolean {
  const isEnd = at < 0 || at >= bytes.length
  return isEnd || (!isZero(bytes, at) && isZero(bytes, at - 1) && isZero(bytes, at + 1))
}

/** The ends count as zeros. */
function isZero(bytes: Uint8Array, at: number): boolean {
  return at < 0 || at >= bytes.length || bytes[at] === 0
}

/** Whether bytes are text, apart from a few characters that never occur in text. */
export function isText(bytes: Uint8Array): boolean {
  const sample = bytes.subarray(0, sampleBytes)
  const text = new TextDecoder(findMark(sample) ?? findUtf16(sample)).decode(sample)
  const odd = text.match(/[^\P{Cc}\s]|\uFFFD/gu)?.length ?? 0
  return odd <= text.length * 0.05
}

/** Letters and everything else in texts, including invisible characters, which could otherwise split a word. */
const wordCharacter = String.raw`[[\t\n\r\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}\p{Cf}]--\uFFFD]`
/** One match of millions of characters would overflow the stack of the expression. */
const pieceCharactersMax = 65_536

/** The readable runs of mostly binary bytes; collapses spaces, because XMP is padded with them. */
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
