/** The maximum length of a compared body, in UTF-16 units: longer bodies would block the event loop. */
export const comparedCharactersMax = 256 * 1024

/** The words of a text as hashes, in order, with their positions. */
interface Words {
  /** Words that are equal after folding have the same hash; other words almost never do. */
  readonly hashes: Int32Array
  readonly starts: Int32Array
  readonly ends: Int32Array
}

/** Normalises the case and the Unicode form of a text, and cuts the text to `comparedCharactersMax`. */
export function foldComparedText(text: string): string {
  const folded = text.slice(0, comparedCharactersMax).normalize('NFKC').toLowerCase()
  // Normalisation may turn one character into 18 characters.
  return folded.slice(0, comparedCharactersMax)
}

/**
 * Splits a folded text into words: runs of letters, digits and marks, and single characters of scripts without spaces
 * between words. A word's hash is FNV-1a over its UTF-16 units. Sketches store the hashes, so the hash function must
 * never change.
 */
export function splitFoldedWords(folded: string): Words {
  const count = fillWordBuffers(folded)
  const { hashes, starts, ends } = wordBuffers
  return { hashes: hashes.slice(0, count), starts: starts.slice(0, count), ends: ends.slice(0, count) }
}

/** As {@link splitFoldedWords}, without the positions. */
function hashWords(folded: string): Int32Array {
  const count = fillWordBuffers(folded)
  return wordBuffers.hashes.slice(0, count)
}

/** Buffers that all texts share: allocating buffers for each text takes longer than filling them. */
let wordBuffers = createWordBuffers(16 * 1024)

function createWordBuffers(length: number): Words {
  return { hashes: new Int32Array(length), starts: new Int32Array(length), ends: new Int32Array(length) }
}

/** Fills the buffers with words. Returns their number. A closure or module-level name in the loop doubles its time. */
function fillWordBuffers(folded: string): number {
  if (folded.length > wordBuffers.hashes.length) wordBuffers = createWordBuffers(folded.length)
  const { hashes, starts, ends } = wordBuffers
  const { none, word, single, unknown } = characterKinds
  const [basis, prime, kindOf] = [fnvBasis, fnvPrime, knownKinds]
  const { length } = folded
  let count = 0
  let hash = 0
  let isWithin = false
  let isSingle = false
  for (let i = 0; i < length;) {
    const start = i
    let unit = folded.charCodeAt(i++)
    let low = 0
    let kind = kindOf[unit]!
    if (kind === unknown) {
      const code = folded.codePointAt(start)!
      if (code > 0xffff) low = folded.charCodeAt(i++)
      kind = toCharacterKind(code)
    }
    if (!isWithin || kind === none || !continuesWord(kind, isSingle)) {
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
function continuesWord(kind: number, isSingle: boolean): boolean {
  return kind === characterKinds.mark || kind === (isSingle ? characterKinds.singleMark : characterKinds.word)
}

const fnvBasis = 0x811c9dc5 | 0
const fnvPrime = 0x01000193

/** The kinds of characters. The kinds of single characters must come last. */
const characterKinds = { unknown: 0, none: 1, word: 2, mark: 3, single: 4, singleMark: 5 } as const

const unspaced = 'Han Hiragana Katakana Bopomofo Yi Thai Lao Khmer Myanmar Tibetan'
  .split(' ')
  .map((script) => `\\p{Script=${script}}`)
  .join('')
const singlePattern = new RegExp(`^[${unspaced}]$`, 'u')
/** The kinds of characters, cached: matching the pattern each time would take most of the time of splitting. */
const knownKinds = new Uint8Array(0x110000)

function toCharacterKind(code: number): number {
  const kind = knownKinds[code]!
  if (kind !== characterKinds.unknown) return kind
  const found = findCharacterKind(String.fromCodePoint(code))
  // A lone half of a surrogate pair is not cached, since its kind depends on the other half.
  return isHalf(code) ? found : (knownKinds[code] = found)
}

function isHalf(code: number): boolean {
  return code >= 0xd800 && code < 0xdc00
}

function findCharacterKind(character: string): number {
  const isMark = /^\p{M}$/u.test(character)
  if (singlePattern.test(character)) return isMark ? characterKinds.singleMark : characterKinds.single
  if (isMark) return characterKinds.mark
  return /^[\p{L}\p{N}]$/u.test(character) ? characterKinds.word : characterKinds.none
}

/** The number of consecutive words that a shingle hashes; in scripts without spaces, of characters. */
export const shingleWords = 5
/** Shingles are integers below this limit, so that both databases and a double store shingles exactly. */
export const shingleRange = 2 ** 47

/** The hashed words of a body, the part of a SKILL.md after its frontmatter. */
export function hashBodyWords(body: string): Int32Array {
  return hashWords(foldComparedText(body))
}

/** The distinct shingles of `length` words below a bound, in ascending order, without common boilerplate. */
export function toShingles(words: Int32Array, length = shingleWords, bound = shingleRange): Float64Array {
  const found = new Float64Array(Math.max(0, words.length - length + 1))
  // Usually the upper part already exceeds the bound, and the lower part is not computed.
  const highMax = bound / lowRange
  let count = 0
  for (let i = 0; i + length <= words.length; i++) {
    const high = hashHigh(words, i, length)
    if (high >= highMax) continue
    const shingle = high * lowRange + hashLow(words, i, length)
    if (shingle < bound) found[count++] = shingle
  }
  const sorted = found.subarray(0, count).toSorted()
  let kept = 0
  for (let i = 0; i < count; i++) {
    const shingle = sorted[i]!
    if ((kept > 0 && shingle === sorted[kept - 1]) || boilerplateShingles.has(shingle)) continue
    sorted[kept++] = shingle
  }
  return sorted.subarray(0, kept)
}

/**
 * The shingle at a position: 32 bits, and 15 more from another mix of the same words, both finished as in MurmurHash3,
 * evenly distributed over {@link shingleRange}. Sketches store the hashes, so the hash function must never change.
 */
export function hashShingle(words: Int32Array, from: number, length: number): number {
  return hashHigh(words, from, length) * lowRange + hashLow(words, from, length)
}

const lowRange = 2 ** 15

function hashHigh(words: Int32Array, from: number, length: number): number {
  let high = 0
  for (let i = from; i < from + length; i++) high = (Math.imul(high ^ (high >>> 15), 0x5bd1e995) + words[i]!) | 0
  return mixShingle(high) >>> 0
}

function hashLow(words: Int32Array, from: number, length: number): number {
  let low = 0x9e3779b9 | 0
  for (let i = from; i < from + length; i++) {
    low = Math.imul(low ^ words[i]!, 0x27d4eb2f)
    low ^= low >>> 13
  }
  return mixShingle(low) & (lowRange - 1)
}

function mixShingle(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}

/**
 * Text that many unrelated skills contain, such as template headings and licences. The list is fixed, so that the
 * similarity of two bodies does not depend on other published skills.
 */
const boilerplate = [
  'when to use this skill',
  'when not to use this skill',
  'use this skill when the user',
  'use this skill when the user asks to',
  'use this skill when the user wants to',
  'use this skill when the user needs to',
  'do not use this skill when',
  'this skill should be used when the user',
  'the task is unrelated to',
  'you need a different domain or tool outside this scope',
  'clarify goals, constraints, and required inputs',
  'apply relevant best practices and validate outcomes',
  'provide actionable steps and verification',
  'if detailed examples are required, open resources/implementation-playbook.md',
  'use this skill only when the task clearly matches the scope described above',
  'do not treat the output as a substitute for environment-specific validation, testing, or expert review',
  'stop and ask for clarification if required inputs, permissions, safety boundaries, or success criteria are missing',
  'see LICENSE.txt for complete terms',
  'curl -X POST https',
  'curl -s -X POST https',
  '-H "Content-Type: application/json" -d',
  'headers: content-type: application/json',
  'git clone https github com',
  'pip install -r requirements.txt',
  'runs-on: ubuntu-latest steps: - uses: actions/checkout',
  'the single source of truth for',
  'unless the user explicitly asks for',
  'this project is licensed under the MIT License',
  'licensed under the Apache License, Version 2.0',
  `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
    documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
    rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to
    permit persons to whom the Software is furnished to do so, subject to the following conditions: The above copyright
    notice and this permission notice shall be included in all copies or substantial portions of the Software. THE
    SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
    WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS
    OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
    OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`,
]

const boilerplateShingles = new Set(boilerplate.flatMap(listShingles))

/** Whether a shingle is common boilerplate, which is no sign of copying. */
export function isBoilerplate(shingle: number): boolean {
  return boilerplateShingles.has(shingle)
}

function listShingles(phrase: string): number[] {
  const words = hashWords(foldComparedText(phrase))
  const count = Math.max(0, words.length - shingleWords + 1)
  return Array.from({ length: count }, (_, i) => hashShingle(words, i, shingleWords))
}
