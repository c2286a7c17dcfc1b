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

/** A text that was found encoded in another. */
export interface DecodedText {
  readonly text: string
  /** Where its outermost form stands. */
  readonly offset: number
  readonly end: number
  /** What was undone, outermost first. */
  readonly decoded: readonly string[]
  /** Nobody writes so who wants to be read. */
  readonly isHidden: boolean
}

/** One text in another, and how it was written. */
export interface Encoded {
  readonly text: string
  readonly start: number
  readonly end: number
  readonly form: string
  readonly isHidden: boolean
}

const depthMax = 5
/** How much is decoded of one file, as a multiple of it, and at least. */
const decodedShareMax = 2
const decodedCharactersMin = 262_144
const textsMax = 2000

const finders = [findRuns, findEscaped, findNumbers, findConcatenated, findRotated, findReversed, findBits] as const

/**
 * What is encoded in a text, and in what is encoded there, five layers deep: base64 and hex (plain, deflated or UTF-16), escapes
 * of URLs, HTML and programs, numbers of characters, strings in pieces, ROT13, reversed strings, bits of invisible
 * characters. Only what decodes to text counts, so digests, images and fonts do not. `onCut` learns why it ended early.
 */
export function* decodeText(text: string, onCut: (reason: string) => void): Generator<DecodedText> {
  let room = Math.max(text.length * decodedShareMax, decodedCharactersMin)
  let count = 0
  const queue: DecodedText[] = [{ text, offset: 0, end: text.length, decoded: [], isHidden: false }]
  for (const outer of queue) {
    const marks = decodeMarks.in(outer.text)
    for (const find of finders) {
      for (const inner of find(outer.text, marks)) {
        if (outer.decoded.length === depthMax) return onCut(`It is encoded more than ${depthMax} times over.`)
        room -= inner.text.length
        count++
        if (room < 0 || count > textsMax) return onCut('Too much of it is encoded; the rest was not decoded.')
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
