import {
  decodeMarks,
  findBits,
  findConcatenated,
  findEscaped,
  findNumbers,
  findReversed,
  findRotated,
} from './decode-marks.ts'
import { findRuns } from './decode-runs.ts'

/** A text that was decoded from another. */
export interface DecodedText {
  readonly text: string
  /** Position of its outermost encoded form. */
  readonly offset: number
  readonly end: number
  /** The decoded encodings, outermost first. */
  readonly decoded: readonly string[]
  /** Whether the encoding has no legitimate use in a readable text. */
  readonly isHidden: boolean
}

/** A decoded text and its encoding. */
export interface Encoded {
  readonly text: string
  readonly start: number
  readonly end: number
  readonly form: string
  readonly isHidden: boolean
}

const depthMax = 5
/** Limit of decoded text per file: a multiple of its size, and a minimum. */
const decodedShareMax = 2
const decodedCharactersMin = 262_144
const textsMax = 2000

const finders = [findRuns, findEscaped, findNumbers, findConcatenated, findRotated, findReversed, findBits] as const

/**
 * Decodes texts in a text, up to five layers deep: base64 and hex (plain, deflated or UTF-16), escapes of URLs, HTML
 * and programs, character codes, concatenated strings, ROT13, reversed strings, bits of invisible characters. Only
 * results that are text count, so digests, images and fonts do not. `onCut` receives the reason of an early end.
 */
export function* decodeText(text: string, onCut: (reason: string) => void): Generator<DecodedText> {
  let room = Math.max(text.length * decodedShareMax, decodedCharactersMin)
  let count = 0
  const queue: DecodedText[] = [{ text, offset: 0, end: text.length, decoded: [], isHidden: false }]
  for (const outer of queue) {
    const marks = decodeMarks.in(outer.text)
    for (const find of finders) {
      for (const inner of find(outer.text, marks)) {
        if (outer.decoded.length === depthMax) return onCut(`It has more than ${depthMax} layers of encoding.`)
        room -= inner.text.length
        count++
        if (room < 0 || count > textsMax) return onCut('It has too much encoded text; the rest was not decoded.')
        const place = outer.decoded.length === 0 ? { offset: inner.start, end: inner.end } : outer
        const decoded = [...outer.decoded, inner.form]
        const isHidden = outer.isHidden || inner.isHidden
        const one = { text: inner.text, offset: place.offset, end: place.end, decoded, isHidden }
        queue.push(one)
        yield one
      }
    }
  }
}
