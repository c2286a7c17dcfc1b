/** Length in UTF-16 units up to which bodies are compared, so that enormous ones cannot block the event loop. */
export const comparedCharactersMax = 256 * 1024

/** The words of a text as hashes, in order, with their positions. */
export interface Words {
  /** Words that are equal after folding have the same hash; other words almost never do. */
  readonly hashes: Int32Array
  readonly starts: Int32Array
  readonly ends: Int32Array
}

/** Normalises case and Unicode forms. */
export function foldText(text: string): string {
  const folded = text.slice(0, comparedCharactersMax).normalize('NFKC').toLowerCase()
  // Normalisation may turn one character into 18.
  return folded.slice(0, comparedCharactersMax)
}

/**
 * Splits a folded text into words: runs of letters, digits and marks, and single characters of scripts without spaces
 * between words. A word's hash is FNV-1a over its UTF-16 units. It is stored in sketches, so it must never change.
 */
export function splitWords(folded: string): Words {
  const count = fillBuffers(folded)
  const { hashes, starts, ends } = buffers
  return { hashes: hashes.slice(0, count), starts: starts.slice(0, count), ends: ends.slice(0, count) }
}

/** As {@link splitWords}, without the positions. */
export function hashWords(folded: string): Int32Array {
  const count = fillBuffers(folded)
  return buffers.hashes.slice(0, count)
}

/** Reused: allocating the buffers for each text takes longer than filling them. */
let buffers = createBuffers(16 * 1024)

function createBuffers(length: number): Words {
  return { hashes: new Int32Array(length), starts: new Int32Array(length), ends: new Int32Array(length) }
}

/** Returns the number of words. The loop uses no closure and no module-level name: either would double its time. */
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

/** Whether a character of this kind continues the word before it. */
function goesOn(kind: Kind, isSingle: boolean): boolean {
  return kind === kinds.mark || kind === (isSingle ? kinds.singleMark : kinds.word)
}

const fnvBasis = 0x811c9dc5 | 0
const fnvPrime = 0x01000193

/** The single kinds must come last. */
const kinds = { unknown: 0, none: 1, word: 2, mark: 3, single: 4, singleMark: 5 } as const
type Kind = (typeof kinds)[keyof typeof kinds]

const unspaced = 'Han Hiragana Katakana Bopomofo Yi Thai Lao Khmer Myanmar Tibetan'
  .split(' ')
  .map((script) => `\\p{Script=${script}}`)
  .join('')
const singlePattern = new RegExp(`^[${unspaced}]$`, 'u')
/** The kind of each character, cached at first use: matching the pattern each time would take most of the time. */
const known = new Uint8Array(0x110000)

function toKind(code: number): Kind {
  const kind = known[code] as Kind
  if (kind !== kinds.unknown) return kind
  const found = findKind(String.fromCodePoint(code))
  // A lone half of a surrogate pair is not cached, since its kind depends on the other half.
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
