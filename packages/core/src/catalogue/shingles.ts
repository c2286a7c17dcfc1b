import { foldText, hashWords } from './copy-words.ts'

/** Words per shingle; in scripts without spaces, characters. */
export const shingleWords = 5
/** Shingles are integers below this, so that both databases and a double store them exactly. */
export const shingleRange = 2 ** 47

/** The hashed words of a body, the part of a SKILL.md after its frontmatter. */
export function toWords(body: string): Int32Array {
  return hashWords(foldText(body))
}

/** The distinct shingles of `length` words below a bound, in ascending order, without common boilerplate. */
export function toShingles(words: Int32Array, length = shingleWords, bound = shingleRange): Float64Array {
  const found = new Float64Array(Math.max(0, words.length - length + 1))
  // In most cases the upper part alone exceeds the bound, and the lower part is not computed.
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
 * evenly distributed over {@link shingleRange}. It is stored in sketches, so it must never change.
 */
export function hashShingle(words: Int32Array, from: number, length: number): number {
  return hashHigh(words, from, length) * lowRange + hashLow(words, from, length)
}

const lowRange = 2 ** 15

function hashHigh(words: Int32Array, from: number, length: number): number {
  let high = 0
  for (let i = from; i < from + length; i++) high = (Math.imul(high ^ (high >>> 15), 0x5bd1e995) + words[i]!) | 0
  return finish(high) >>> 0
}

function hashLow(words: Int32Array, from: number, length: number): number {
  let low = 0x9e3779b9 | 0
  for (let i = from; i < from + length; i++) {
    low = Math.imul(low ^ words[i]!, 0x27d4eb2f)
    low ^= low >>> 13
  }
  return finish(low) & (lowRange - 1)
}

function finish(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}

/**
 * Text that many skills contain independently: headings of templates, licences, the frame of a command. A fixed list,
 * so that the similarity of two bodies does not depend on what else is published.
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
  const words = hashWords(foldText(phrase))
  const count = Math.max(0, words.length - shingleWords + 1)
  return Array.from({ length: count }, (_, i) => hashShingle(words, i, shingleWords))
}
