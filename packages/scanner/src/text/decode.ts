import { decoders } from './encodings.ts'

/** A text that was decoded from another text. */
export interface DecodedText {
  readonly text: string
  /** Position of the text's outermost encoded form. */
  readonly offset: number
  readonly end: number
  /** The decoded encodings, outermost first. */
  readonly decoded: readonly string[]
  /** Whether the encoding has no legitimate use in a readable text. */
  readonly isHidden: boolean
  /** The passage as written, if the text is its usual spelling: a match in both does not come from the spelling. */
  readonly spelled: string | undefined
}

const depthMax = 5
/** Limit of decoded text per file: a multiple of its size, and a minimum. */
const decodedShareMax = 2
const decodedCharactersMin = 262_144
const textsMax = 2000

/**
 * Decodes texts in a text, up to five layers deep: base64 and hex (plain, deflated or UTF-16), escapes of URLs, HTML and
 * programs, character codes, concatenated and reversed strings, bytes of invisible characters, words that markup splits,
 * and sentences that are reversed or in ROT13. Only results that are text count, so digests, images and fonts do not.
 * `onCut` receives the reason of an early end.
 */
export function* decodeEncodedText(text: string, onCut: (reason: string) => void): Generator<DecodedText> {
  let room = Math.max(text.length * decodedShareMax, decodedCharactersMin)
  let count = 0
  const queue: (DecodedText & { depth: number })[] = [
    { text, offset: 0, end: text.length, decoded: [], isHidden: false, spelled: undefined, depth: 0 },
  ]
  for (const outer of queue) {
    for (const find of decoders) {
      for (const inner of find(outer.text)) {
        // A spelling is decoded once, because its result may look as if it had the spelling again.
        if (inner.spelled !== undefined && outer.decoded.includes(inner.form)) continue
        // Two decodings may cancel out, as ROT13 of ROT13.
        if (outer.depth > 0 && text.includes(inner.text)) continue
        const depth = outer.depth + (inner.spelled === undefined ? 1 : 0)
        if (depth > depthMax) return onCut(`It has more than ${depthMax} layers of encoding.`)
        room -= inner.text.length
        count++
        if (room < 0 || count > textsMax) return onCut('It has too much encoded text; the rest was not decoded.')
        const place = outer.decoded.length === 0 ? { offset: inner.start, end: inner.end } : outer
        const decoded = [...outer.decoded, inner.form]
        const isHidden = outer.isHidden || !inner.isUsual
        const { text: plain, spelled } = inner
        const one = { text: plain, offset: place.offset, end: place.end, decoded, isHidden, spelled, depth }
        queue.push(one)
        yield one
      }
    }
  }
}
