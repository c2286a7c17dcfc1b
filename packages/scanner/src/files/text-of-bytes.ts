/** Number of bytes that decide whether a file is text. */
const sampleBytes = 64 * 1024
/** Minimum share of UTF-16 code units with a zero byte, as Latin letters, spaces and line ends have. */
const utf16ZerosMin = 0.05

/**
 * Returns the possible texts of bytes, each once: as UTF-8, and as UTF-16 if they have its byte order mark or its zero
 * bytes. Reads UTF-8 without the mark, because an interpreter skips the mark and runs the ASCII after it. Returns none
 * for no bytes.
 */
export function readTextsOf(bytes: Uint8Array): string[] {
  if (bytes.length === 0) return []
  const mark = findMark(bytes)
  const encoding = mark ?? findUtf16(bytes)
  const wide = encoding ? [decodeBytes(bytes, encoding).replace(unshownCharacters, '').replaceAll('\0', '')] : []
  return [...new Set([...wide, ...toUtf8Texts(mark ? bytes.subarray(2) : bytes)])]
}

/**
 * Returns the possible texts of bytes in UTF-8, with U+FFFD for invalid bytes, of which long runs are shortened. Shells
 * drop NUL and run the rest; other programs end strings at NUL. Other control characters separate words, or are ignored.
 */
export function toUtf8Texts(bytes: Uint8Array): string[] {
  const heard = withoutNoise(decodeBytes(bytes))
  const shown = heard.replace(unshownCharacters, '')
  const apart = shown === heard ? [shown] : [shown, heard]
  return [...new Set([shown.replaceAll('\0', ''), ...apart.map(withZerosApart)])]
}

function decodeBytes(bytes: Uint8Array, encoding: 'utf-8' | Utf16 = 'utf-8'): string {
  return new TextDecoder(encoding).decode(bytes)
}

/** Control characters other than white space and NUL. */
// oxlint-disable-next-line no-control-regex -- these are what is meant
const unshownCharacters = /[\x01-\x08\x0e-\x1f\x7f]+/g

/** Replaces the zeros that end a string by a space, and removes those between the letters of UTF-16. */
function withZerosApart(text: string): string {
  // oxlint-disable-next-line no-control-regex -- zeros are what is meant
  return text.replace(/\0+/g, (run, at: number) => {
    const end = at + run.length
    // Outside of the text, a code is NaN.
    const isWide = run.length === 1 && !text.charCodeAt(at - 2) && !text.charCodeAt(end + 1)
    return isWide || end === text.length ? '' : ' '
  })
}

/**
 * Shortens the noise in what is not text, such as compressed data: many invalid bytes with fewer than eight characters
 * between them. Each line of noise becomes a single U+FFFD, so that lines keep their numbers. Text in an older encoding
 * stays, and so does all ASCII and UTF-8 of eight characters or more. Takes linear time.
 */
export function withoutNoise(text: string): string {
  if (!text.includes('\uFFFD')) return text
  return text.replace(noise, (found) => found.replace(/[^\r\n]+/g, '\uFFFD'))
}

/** Bounded, because a match of millions of characters overflows the stack of the regular expression. */
const noise = /\uFFFD(?:(?:[\0-\u07FF]|[\u0800-\uFFFC](?![\u0800-\uFFFC])){0,7}\uFFFD){31,4096}/g

/** Whether most of the bytes are noise, in which a program may see what a scan does not. */
export function isOpaque(bytes: Uint8Array): boolean {
  const text = decodeBytes(bytes)
  return withoutNoise(text).length < text.length / 2 && !isText(bytes)
}
/** Whether bytes are text, except for a few characters that do not occur in text. */
export function isText(bytes: Uint8Array): boolean {
  const sample = bytes.subarray(0, sampleBytes)
  const text = new TextDecoder(findMark(sample) ?? findUtf16(sample)).decode(sample)
  // In random bytes that pass for UTF-16, one in eight code units is not assigned.
  const odd = text.replace(plainCharacters, '').match(oddCharacter)?.length ?? 0
  return odd <= text.length * 0.05
}

/** The characters that make up most of a text. They are removed first, because `oddCharacter` is slow on them. */
const plainCharacters = /[\t-\r -~]+/g
const oddCharacter = /[^\P{Cc}\s]|[\p{Cn}\p{Co}\p{Cs}\uFFFD]/gu

/**
 * Runs of all characters of texts, including invisible ones, which could split a word. Bounded, because a match of
 * millions of characters overflows the stack of the regular expression.
 */
const wordsPattern = /[[\t\n\r\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}\p{Cf}]--\uFFFD]{6,65536}/gv

/** The runs of text in bytes that are mostly not text. Shortens runs of white space, with which XMP is padded. */
export function extractTextRuns(text: string): string {
  const runs: string[] = []
  let end = 0
  for (const { 0: run, index } of text.matchAll(wordsPattern)) {
    // A long run has several matches, which are joined.
    runs.push(index === end || runs.length === 0 ? run : `\n${run}`)
    end = index + run.length
  }
  return runs.join('').replace(/\s{3,}/g, '\n')
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
