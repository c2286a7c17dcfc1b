import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { SortedWords } from '../../packages/core/src/search/sorted-words.ts'
import { fieldMark, sentenceBreak } from '../../packages/core/src/search/tokenize.ts'
import { WordLists } from '../../packages/core/src/search/word-lists.ts'

describe('sorted words', () => {
  test('return the words that begin with a prefix, in order, after any changes', () => {
    const anyWord = fc.oneof(fc.string({ unit: fc.constantFrom('a', 'b', '图', '🎉'), minLength: 1, maxLength: 5 }))
    fc.assert(
      fc.property(fc.array(anyWord, { maxLength: 3000, size: 'max' }), anyWord, (words, prefix) => {
        const spellings: string[] = []
        const sorted = new SortedWords((id) => spellings[id]!)
        const contained = new Set<string>()
        for (const [id, word] of words.entries()) {
          if (contained.delete(word)) {
            sorted.remove(word)
            continue
          }
          spellings[id] = word
          sorted.add(id)
          contained.add(word)
        }
        sorted.remove('absent')
        for (const start of [prefix, prefix[0]!]) {
          const expected = [...contained].filter((word) => word.startsWith(start)).toSorted()
          expect(Array.from(sorted.withPrefix(start), (id) => spellings[id])).toEqual(expected)
        }
      }),
      { numRuns: 30 },
    )
  })
})

describe('word lists', () => {
  test('return what was stored last, whatever else is stored', () => {
    const anyId = fc.oneof(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: fieldMark - 16 }))
    const anyMark = fc.constantFrom(sentenceBreak, ...Array.from({ length: 7 }, (_, field) => fieldMark | field))
    const anyChange = fc.tuple(fc.nat(4), fc.option(fc.array(fc.oneof(anyId, anyMark), { maxLength: 2000 })))
    fc.assert(
      fc.property(fc.array(anyChange), (changes) => {
        const lists = new WordLists()
        const expected = new Map<number, number[]>()
        for (const [slot, words] of changes) {
          if (words) lists.set(slot, Int32Array.from(words))
          else lists.remove(slot)
          expected.set(slot, words ?? [])
        }
        for (const [slot, words] of expected) expect([...lists.read(slot)]).toEqual(words)
      }),
    )
  })
})
