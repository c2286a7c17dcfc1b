import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fieldMark, sentenceBreak } from '../../packages/core/src/search/words/tokenize.ts'
import { WordLists } from '../../packages/core/src/search/word-lists.ts'

describe('stored word lists', () => {
  test('return the latest list of each id, and an empty list after a removal', () => {
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
