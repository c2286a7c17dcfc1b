import { isUtf8 } from 'node:buffer'

/** A passage has at least this many more bytes of text than others, each of which counts as several. */
const passageMin = 8
const noiseWeight = 3
/** Limit of the sum, so that text after a long passage and some noise is found as soon as text after noise alone. */
const sumMax = 32
/** Shorter noise stays: text in an older encoding has invalid bytes between its words. */
const noiseBytesMin = 64
/** An invalid byte, which becomes U+FFFD. */
const noiseMark = 0xff

/**
 * Shortens the noise in bytes that are not text, such as compressed data, and keeps all passages that may be text: ASCII
 * or UTF-8, also with zeros (UTF-16), control characters or a few other bytes between. Each line of noise becomes a
 * single invalid byte, so that lines keep their numbers. Returns the same bytes if there is no noise. Takes linear time.
 */
export function withoutNoise(bytes: Uint8Array): Uint8Array {
  if (isUtf8(bytes)) return bytes
  const noise = findNoise(bytes)
  if (noise.length === 0) return bytes
  const kept = new Uint8Array(bytes.length)
  let size = 0
  let done = 0
  for (const { start, end } of noise) {
    kept.set(bytes.subarray(done, start), size)
    size += start - done
    let isMarked = false
    for (let at = start; at < end; at++) {
      const isLineEnd = bytes[at] === 0x0a || bytes[at] === 0x0d
      if (isLineEnd || !isMarked) kept[size++] = isLineEnd ? bytes[at]! : noiseMark
      isMarked = !isLineEnd
    }
    done = end
  }
  kept.set(bytes.subarray(done), size)
  return kept.subarray(0, size + bytes.length - done)
}

/** Whether most of the bytes are noise, in which a program may see what a scan does not. */
export function isMostlyNoise(bytes: Uint8Array): boolean {
  return withoutNoise(bytes).length < bytes.length / 2
}

interface Range {
  readonly start: number
  readonly end: number
}

/**
 * Finds the ranges between passages. A sum increases with bytes of text and decreases with others, down to 0: a passage
 * begins where it leaves 0, and contains all places where it reaches the minimum (a cumulative sum test; Page,
 * "Continuous inspection schemes", 1954).
 */
function findNoise(bytes: Uint8Array): Range[] {
  const noise: Range[] = []
  /** Ends of the last passage, and the start of the one that may begin. */
  let [passageEnd, start, sum] = [0, 0, 0]
  const { length } = bytes
  for (let at = 0; at < length;) {
    const kind = kinds[bytes[at]!]!
    if (kind === unseen) {
      at++
      continue
    }
    const size = kind <= 1 || isSequence(bytes, at, kind) ? kind : 0
    if (size === 0) {
      sum = Math.max(0, sum - noiseWeight)
      at++
      continue
    }
    if (sum === 0) start = at
    sum = Math.min(sumMax, sum + size)
    at += size
    if (sum < passageMin) continue
    if (start - passageEnd >= noiseBytesMin) noise.push({ start: passageEnd, end: start })
    passageEnd = at
  }
  if (length - passageEnd >= noiseBytesMin) noise.push({ start: passageEnd, end: length })
  return noise
}

/**
 * For each byte: 1 for printable ASCII and white space, the number of bytes of the character that begins with it
 * (RFC 3629, 4), 0 for others, and a mark for zero and control characters, which programs ignore.
 */
const unseen = 5
const kinds = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte < 0x80) return (byte >= 0x20 && byte !== 0x7f) || (byte >= 0x09 && byte <= 0x0d) ? 1 : unseen
  if (byte < 0xc2 || byte > 0xf4) return 0
  return byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
})

function isSequence(bytes: Uint8Array, at: number, size: number): boolean {
  for (let next = at + 1; next < at + size; next++) if ((bytes[next]! & 0xc0) !== 0x80) return false
  return true
}
