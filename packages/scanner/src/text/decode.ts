import {
  decodeMarks,
  findBits,
  findConcatenated,
  findEscaped,
  findNumbers,
  findReversed,
  findRotated,
} from './decode-marks.ts'
import { toCodeUnits } from './code-units.ts'
import { findDigits, findPieces } from './decode-digits.ts'
import { findLists } from './decode-lists.ts'
import { findMarkedUp } from './decode-markup.ts'
import { findRuns } from './decode-runs.ts'
import { findCommands } from './decode-commands.ts'
import { findShifted, findSpelled } from './decode-spelling.ts'
import { findYaml } from './decode-yaml.ts'

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
  /** For another spelling of a text, that text: a match in both is not a result of the spelling. */
  readonly spelled: string | undefined
}

/** A decoded text and its encoding. */
export interface Encoded {
  readonly text: string
  readonly start: number
  readonly end: number
  readonly form: string
  readonly isHidden: boolean
  readonly spelled?: string
}

const depthMax = 5
/** Limit of decoded text per file: a multiple of its size, and a minimum. */
const decodedShareMax = 2
const decodedCharactersMin = 262_144
const textsMax = 2000

const finders = [
  findRuns,
  findPieces,
  findDigits,
  findEscaped,
  findNumbers,
  findConcatenated,
  findCommands,
  findMarkedUp,
  findYaml,
  findLists,
  findSpelled,
  findShifted,
  findRotated,
  findReversed,
  findBits,
] as const

/**
 * Decodes texts in a text, up to five layers deep: base64, base32 and hex (plain, deflated, UTF-16 or in pieces),
 * escapes of URLs, HTML, YAML and programs, character codes, concatenated strings, other alphabets, reversed strings,
 * bits of invisible characters. It also reads words again that are split by markup, quote marks or line ends, and the
 * items of a list with the sentence that introduces it. Only results that are text count, so digests, images and fonts
 * do not. `onCut` receives the reason of an early end.
 */
export function* decodeText(text: string, onCut: (reason: string) => void): Generator<DecodedText> {
  let room = Math.max(text.length * decodedShareMax, decodedCharactersMin)
  let count = 0
  const queue: (DecodedText & { depth: number })[] = [
    { text, offset: 0, end: text.length, decoded: [], isHidden: false, spelled: undefined, depth: 0 },
  ]
  for (const outer of queue) {
    const units = toCodeUnits(outer.text)
    const marks = decodeMarks.in(units)
    for (const find of finders) {
      for (const inner of find(outer.text, marks, units)) {
        // A spelling is not repeated, and its result may have the same signs.
        if (inner.spelled !== undefined && outer.decoded.includes(inner.form)) continue
        // Two decodings may cancel out, as ROT13 and another alphabet.
        if (outer.depth > 0 && text.includes(inner.text)) continue
        const depth = outer.depth + (inner.spelled === undefined ? 1 : 0)
        if (depth > depthMax) return onCut(`It has more than ${depthMax} layers of encoding.`)
        room -= inner.text.length
        count++
        if (room < 0 || count > textsMax) return onCut('It has too much encoded text; the rest was not decoded.')
        const place = outer.decoded.length === 0 ? { offset: inner.start, end: inner.end } : outer
        const decoded = [...outer.decoded, inner.form]
        const isHidden = outer.isHidden || inner.isHidden
        const { text: plain, spelled } = inner
        const one = { text: plain, offset: place.offset, end: place.end, decoded, isHidden, spelled, depth }
        queue.push(one)
        yield one
      }
    }
  }
}
