/** Longer bodies are compared as far as this, in UTF-16 units, so that enormous ones cannot hold the event loop. */
export const comparedCharactersMax = 256 * 1024

/** Words of a text as numbers, in order, and where each stands in it. */
export interface Words {
  /** Words that are the same once folded have the same number; others almost never do. */
  readonly hashes: Int32Array
  readonly starts: Int32Array
  readonly ends: Int32Array
}

/** Case and forms of the same character make no difference. */
export function foldText(text: string): string {
  const folded = text.slice(0, comparedCharactersMax).normalize('NFKC').toLowerCase()
  // One character may become 18.
  return folded.slice(0, comparedCharactersMax)
}

/**
 * The words of a folded text: runs of letters, digits and marks, and single characters of scripts that put no spaces
 * between words. The hash of a word is FNV-1a over its UTF-16 units: it is stored in sketches, and never changes.
 */
export function splitWords(folded: string): Words {
  const count = fillBuffers(folded)
  const { hashes, starts, ends } = buffers
  return { hashes: hashes.slice(0, count), starts: starts.slice(0, count), ends: ends.slice(0, count) }
}

/** As {@link splitWords}, where nobody asks where they stand. */
export function hashWords(folded: string): Int32Array {
  const count = fillBuffers(folded)
  return buffers.hashes.slice(0, count)
}

/** Kept, for making them anew for each text takes longer than filling them. */
let buffers = createBuffers(16 * 1024)

function createBuffers(length: number): Words {
  return { hashes: new Int32Array(length), starts: new Int32Array(length), ends: new Int32Array(length) }
}

/**
 * Returns how many words there are. No closure and no name of the module is met in its loop: either would cost as much
 * as the rest.
 */
function fillBuffers(folded: string): number {
  if (folded.length > buffers.hashes.length) buffers = createBuffers(folded.length)
  const { hashes, starts, ends } = buffers
  const { none, word, single, unknown } = kinds
  const [basis, prime, kindOf] = [fnvBasis, fnvPrime, known]
  const { length } = folded
  let count = 0
  let hash = 0
  let isWithin = false
  let isSingle = false
  for (let i = 0; i < length;) {
    const start = i
    let unit = folded.charCodeAt(i++)
    let low = 0
    let kind = kindOf[unit] as Kind
    if (kind === unknown) {
      const code = folded.codePointAt(start)!
      if (code > 0xffff) low = folded.charCodeAt(i++)
      kind = toKind(code)
    }
    if (!isWithin || kind === none || !goesOn(kind, isSingle)) {
      if (isWithin) ends[count++] = start
      isWithin = kind !== none
      if (!isWithin) continue
      starts[count] = start
      hash = basis
      isSingle = kind >= single
    }
    hash = Math.imul(hash ^ unit, prime)
    if (low !== 0) hash = Math.imul(hash ^ low, prime)
    if (!isSingle)
      for (; i < length && kindOf[(unit = folded.charCodeAt(i))] === word; i++) hash = Math.imul(hash ^ unit, prime)
    hashes[count] = hash
  }
  if (isWithin) ends[count++] = length
  return count
}

/** Whether a character of this kind belongs to the word before it. */
function goesOn(kind: Kind, isSingle: boolean): boolean {
  return kind === kinds.mark || kind === (isSingle ? kinds.singleMark : kinds.word)
}

const fnvBasis = 0x811c9dc5 | 0
const fnvPrime = 0x01000193

/** The single ones come last. */
const kinds = { unknown: 0, none: 1, word: 2, mark: 3, single: 4, singleMark: 5 } as const
type Kind = (typeof kinds)[keyof typeof kinds]

const unspaced = 'Han Hiragana Katakana Bopomofo Yi Thai Lao Khmer Myanmar Tibetan'
  .split(' ')
  .map((script) => `\\p{Script=${script}}`)
  .join('')
const singlePattern = new RegExp(`^[${unspaced}]$`, 'u')
/** What each character is, found out when it is first met: asking a pattern each time would take most of the time. */
const known = new Uint8Array(0x110000)

function toKind(code: number): Kind {
  const kind = known[code] as Kind
  if (kind !== kinds.unknown) return kind
  const found = findKind(String.fromCodePoint(code))
  // Of the half of a pair it stays unknown, so that the other half is looked for each time.
  return isHalf(code) ? found : (known[code] = found)
}

function isHalf(code: number): boolean {
  return code >= 0xd800 && code < 0xdc00
}

function findKind(character: string): Kind {
  const isMark = /^\p{M}$/u.test(character)
  if (singlePattern.test(character)) return isMark ? kinds.singleMark : kinds.single
  if (isMark) return kinds.mark
  return /^[\p{L}\p{N}]$/u.test(character) ? kinds.word : kinds.none
}
