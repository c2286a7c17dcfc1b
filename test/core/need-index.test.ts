import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { NeedIndex, type NeedScores } from '../../packages/core/src/search/need-index.ts'
import { countStems, hashStem, toStem } from '../../packages/core/src/search/words/count-stems.ts'
import { PostingLists } from '../../packages/core/src/search/postings/posting-lists.ts'
import {
  addWeights,
  joinVector,
  toContentVector,
  valueOfImpact,
} from '../../packages/core/src/search/words/term-vector.ts'
import type { SearchDocument } from '../../packages/core/src/search/search-document.ts'
import { createSearchIndex } from '../../packages/core/src/search/search-index.ts'
import { isStopWord, tokenize } from '../../packages/core/src/search/words/tokenize.ts'

describe('posting lists', () => {
  test('return the appended postings in order, however appends to several lists are interleaved', () => {
    const anyDistance = fc.oneof(fc.nat(200), fc.nat(2 ** 31 - 1))
    const anyAppend = fc.tuple(fc.nat(5), anyDistance, fc.nat(255))
    fc.assert(
      fc.property(fc.array(anyAppend, { maxLength: 2000, size: 'max' }), (appends) => {
        const lists = new PostingLists()
        const expected = Array.from({ length: 6 }, () => [] as number[][])
        for (const _ of expected) lists.create()
        for (const [list, distance, byte] of appends) {
          lists.append(list, distance, byte)
          expected[list]!.push([distance, byte])
        }
        expect(expected.map((_, list) => readAll(lists, list))).toEqual(expected)
      }),
      { numRuns: 30 },
    )
  })
})

function readAll(lists: PostingLists, list: number): number[][] {
  const postings: number[][] = []
  for (let isIn = lists.open(list); isIn; isIn = lists.next()) {
    const bytes = lists.block.subarray(lists.at, lists.end).values()
    for (let { value } = bytes.next(); value !== undefined; { value } = bytes.next()) {
      let distance = value & 127
      for (let factor = 128; value > 127; factor *= 128) {
        value = bytes.next().value!
        distance += (value & 127) * factor
      }
      postings.push([distance, bytes.next().value!])
    }
  }
  return postings
}

/** A change of an index: the terms of a slot by hash with impacts, or none for a removal. */
interface Step {
  slot: number
  audience: 'guests' | 'users' | 'readers'
  terms: Map<number, number> | undefined
}

const slotsMax = 12
const anyTerms = fc.uniqueArray(fc.tuple(fc.integer({ min: -4, max: 4 }), fc.nat(255)), {
  selector: ([hash]) => hash,
  maxLength: 6,
})
const anyStep: fc.Arbitrary<Step> = fc.record({
  slot: fc.nat(slotsMax - 1),
  audience: fc.constantFrom('guests', 'users', 'readers'),
  terms: fc.option(
    anyTerms.map((terms) => new Map(terms)),
    { nil: undefined },
  ),
})

/** The same scores by definition: a pass over all skills for every term. */
function scoreByDefinition(terms: Map<number, Map<number, number>>, hashes: Set<number>, counted: Set<number>) {
  const scores = new Map<number, number>()
  for (const hash of hashes) {
    const having = [...terms].filter(([, found]) => found.has(hash))
    const frequency = having.filter(([slot]) => counted.has(slot)).length
    const idf = Math.log(1 + (counted.size - frequency + 0.5) / (frequency + 0.5)) ** 0.55
    for (const [slot, found] of having) {
      const value = Math.ceil(valueOfImpact[found.get(hash)!]! * idf * 65_536)
      scores.set(slot, (scores.get(slot) ?? 0) + value)
    }
  }
  return scores
}

function scoresOf({ scores, end }: NeedScores): Map<number, number> {
  return new Map([...scores.subarray(0, end).entries()].filter(([, score]) => score > 0))
}

function apply(index: NeedIndex, { slot, audience, terms }: Step): void {
  if (!terms) return index.remove(slot)
  index.put(slot, { hashes: Int32Array.from(terms.keys()), impacts: Uint8Array.from(terms.values()) }, audience)
}

describe('the index for searches by need', () => {
  test('gives the scores that BM25F defines, after any sequence of changes', () => {
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 60 }), anyTerms, (steps, query) => {
        const index = new NeedIndex()
        const stored = new Map<number, Step>()
        for (const step of steps) {
          apply(index, step)
          stored.delete(step.slot)
          if (step.terms) stored.set(step.slot, step)
        }
        const hashes = new Set(query.map(([hash]) => hash))
        for (const isGuest of [true, false]) {
          const read = [...stored.values()].filter(({ audience }) => !isGuest || audience === 'guests')
          const counted = new Set(read.filter(({ audience }) => audience !== 'readers').map(({ slot }) => slot))
          const found = index.score(hashes, {
            audience: { size: counted.size, isGuest },
            end: slotsMax,
            isVisible: () => true,
          })
          const scores = scoresOf(found)
          const terms = new Map(read.map((step) => [step.slot, step.terms!]))
          expect(scores).toEqual(scoreByDefinition(terms, hashes, counted))
          expect(found.isPartial).toBe(false)
          for (const score of scores.values()) expect(score).toBeLessThanOrEqual(found.scoreMax)
        }
      }),
    )
  })

  test('finds at most 128 terms of a query in private skills, whatever private skills of other users contain', () => {
    const hashes = Int32Array.from({ length: 300 }, (_, i) => i)
    const impacts = new Uint8Array(300).fill(255)
    const search = (...others: number[]) => {
      const index = new NeedIndex()
      index.put(0, { hashes, impacts }, 'readers')
      index.put(1, { hashes: Int32Array.from(others), impacts: impacts.slice(0, others.length) }, 'readers')
      const audience = { size: 50_000, isGuest: false }
      const found = index.score(new Set([...hashes, -1, -2]), { audience, end: 2, isVisible: (slot) => slot === 0 })
      return { score: found.scores[0], count: found.counts[0], isPartial: found.isPartial }
    }
    const alone = search()
    expect(alone).toMatchObject({ count: 128, isPartial: true })
    expect(search(-1, -2)).toEqual(alone)
    expect(search(200)).toEqual(alone)
  })

  test('removes entries of replaced texts during its use, without a change of any score', () => {
    const index = new NeedIndex()
    const terms = new Map<number, Map<number, number>>()
    const size = 1000
    let bytesMax = 0
    for (let round = 0; round < 40; round++) {
      for (let i = round * 501; i < (round + 1) * 501; i++) {
        const slot = (i * 7919) % size
        const of = new Map([0, 1, 2, 3].map((n) => [(i * (n + 1)) % 97, (i + n) % 256]))
        apply(index, { slot, audience: 'guests', terms: of })
        terms.set(slot, of)
      }
      if (round === 4) bytesMax = index.bytes * 2
      const hashes = new Set([round, 5])
      const found = index.score(hashes, {
        audience: { size: terms.size, isGuest: true },
        end: size,
        isVisible: () => true,
      })
      const expected = scoreByDefinition(terms, hashes, new Set(terms.keys()))
      expect(scoresOf(found)).toEqual(expected)
    }
    expect(index.bytes).toBeLessThanOrEqual(bytesMax)
  })

  test('leaves out the most frequent terms of a search that exceeds the cost limit', () => {
    const index = new NeedIndex()
    const size = 20_000
    const common = Array.from({ length: 100 }, (_, i) => i)
    const vector = { hashes: Int32Array.from(common), impacts: new Uint8Array(common.length).fill(100) }
    for (let slot = 0; slot < size; slot++) index.put(slot, vector, 'guests')
    index.put(0, { hashes: Int32Array.from([...common, 1000]), impacts: new Uint8Array(101).fill(100) }, 'guests')
    const { isPartial, counts } = index.score(new Set([...common, 1000]), {
      audience: { size, isGuest: true },
      end: size,
      isVisible: () => true,
    })
    expect(isPartial).toBe(true)
    expect(counts[0]).toBe(counts[1]! + 1)
  })

  test('gives complete results with the same scores, however many private skills other users have', () => {
    const index = new NeedIndex()
    const size = 20_000
    const common = Array.from({ length: 100 }, (_, i) => i)
    const vector = { hashes: Int32Array.from(common), impacts: new Uint8Array(common.length).fill(100) }
    index.put(0, vector, 'guests')
    const search = (isGuest: boolean) =>
      index.score(new Set(common), { audience: { size: 1, isGuest }, end: size, isVisible: (slot) => slot === 0 })
    const [guest, user] = [true, false].map((isGuest) => search(isGuest).best)
    for (let slot = 1; slot < size; slot++) index.put(slot, vector, 'readers')
    for (const [isGuest, best] of [
      [true, guest],
      [false, user],
    ] as const) {
      const found = search(isGuest)
      expect(found.isPartial).toBe(false)
      expect(found.best).toBe(best)
    }
  })
})

const skillMd = `---
name: webhook-retries
description: Handles webhooks.
---

# Idempotent delivery

Store each event id. Ignore duplicates, so that a customer is charged once. 重复的事件会被忽略。
`

describe('the word stems counted in a text', () => {
  test('are the stems of its tokens without stop words, even after other texts were counted', () => {
    const anyCharacter = fc.oneof(
      fc.constantFrom(..."aeB .,-#+'’ßé図像ー한\u0301\u200b\ud83d🎉𝒜ﷺ"),
      fc.string({ unit: 'binary' }),
    )
    fc.assert(
      fc.property(fc.array(fc.oneof(anyCharacter, fc.constantFrom(' the ', ' runs ', ' C++ ', "it's"))), (parts) => {
        const text = parts.join('')
        const tokens = tokenize(text)
        const expected = new Map<number, number>()
        for (const token of tokens.filter((word) => !isStopWord(word))) {
          expected.set(hashStem(token), (expected.get(hashStem(token)) ?? 0) + 1)
        }
        expect(countStems(text)).toEqual({ stems: expected, length: tokens.length })
      }),
      { numRuns: 500 },
    )
  })

  test('are exact for more distinct words than the cache holds', () => {
    const numbers = Array.from({ length: 3000 }, (_, i) => i)
    const texts = 'abcdefghijkl'.split('').map((letter) => numbers.map((number) => letter + number).join(' '))
    const counts = texts.map((text) => countStems(text))
    expect(counts.map(({ length }) => length)).toEqual(texts.map((text) => tokenize(text).length))
    expect(texts.map((text) => countStems(text))).toEqual(counts)
  })
})

describe('the vector of a SKILL.md', () => {
  test('has the stemmed words of the body, each once, and neither stop words nor the frontmatter', () => {
    const { hashes, impacts } = joinVector(toContentVector(skillMd), new Map())
    const has = (word: string) => hashes.includes(hashStem(word))
    for (const word of ['duplicate', 'charging', 'customers', 'deliveries', 'idempotent', '重复', '事件']) {
      expect({ word, found: has(word) }).toEqual({ word, found: true })
    }
    for (const word of ['that', 'is', 'webhooks', 'handles']) expect(has(word)).toBe(false)
    expect(new Set(hashes).size).toBe(hashes.length)
    expect(impacts.length).toBe(hashes.length)
  })

  test('gives the words at the beginning of the body more weight', () => {
    const { hashes, impacts } = joinVector(toContentVector(`early ${'filler '.repeat(300)} late`), new Map())
    const impactOf = (word: string) => impacts[hashes.indexOf(hashStem(word))]!
    expect(impactOf('early')).toBeGreaterThan(impactOf('late'))
  })

  test('depends only on the text and on added words of other fields', () => {
    expect(toContentVector(skillMd)).toEqual(toContentVector(skillMd))
    const weights = new Map<number, number>()
    addWeights(weights, 'name', new Map([[hashStem('customer'), 1], [hashStem('retry'), 1]]), 2) // prettier-ignore
    const plain = joinVector(toContentVector(skillMd), new Map())
    const joined = joinVector(toContentVector(skillMd), weights)
    const impactIn = ({ hashes, impacts }: typeof plain, word: string) => impacts[hashes.indexOf(hashStem(word))] ?? -1
    expect(impactIn(joined, 'customer')).toBeGreaterThan(impactIn(plain, 'customer'))
    expect(impactIn(joined, 'retry')).toBeGreaterThan(0)
    expect(impactIn(joined, 'event')).toBe(impactIn(plain, 'event'))
    expect(joined.hashes.length).toBe(plain.hashes.length + 1)
  })

  test('accepts any text, and a damaged vector has no terms', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => toContentVector(text).length % 5 === 0))
    for (const length of [0, 1, 4]) expect(joinVector(new Uint8Array(length), new Map()).hashes.length).toBe(0)
  })

  test('has the same term for the forms of an English word, and other words unchanged', () => {
    expect(['charges', 'charged', 'charging'].map(toStem)).toEqual(['charg', 'charg', 'charg'])
    expect(['useeffect2', '图像', 'io'].map(toStem)).toEqual(['useeffect2', '图像', 'io'])
  })
})

const searched: SearchDocument = {
  id: 1,
  name: 'webhook-retries',
  owner: 'ada',
  fullName: 'ada/webhook-retries',
  displayName: 'webhook-retries',
  keywords: [],
  description: 'Handles webhooks.',
  headings: [],
  summary: '',
  category: '',
  license: '',
  audience: 'guests',
  readers: [],
  stub: false,
  verified: false,
  deprecated: false,
  securityScore: null,
  loadedBy: 0,
  downloads: 0,
  stars: 0,
  effectLow: -2,
  publishedAt: 0,
  content: toContentVector(skillMd),
}

describe('a search by need', () => {
  const plain = { offset: 0, limit: 20, viewer: null, filters: { includeStubs: false } }
  const other = { ...searched, id: 2, name: 'csv', fullName: 'ada/csv', displayName: 'csv' }
  const content = toContentVector('# CSV\n\nCharts for customers and a csv file.')
  const index = createSearchIndex()
  index.put({ ...other, description: 'Handles files.', content })
  index.put(searched)
  const find = (q: string) => index.search({ ...plain, q }).ids

  test('finds a skill by words of its body', () => {
    expect(find('events are delivered twice and customers get charged again')).toEqual([1])
    expect(find('重复事件')).toEqual([1])
  })

  test('ranks a skill with the words in its name first', () => {
    expect(find('csv')).toEqual([2])
    expect(find('customer file csv')[0]).toBe(2)
  })

  test('ignores the words that merely introduce a need, and the parts of contractions', () => {
    const query = "Something isn't right: whenever I'd retry, maybe everyone gets charged."
    expect(index.search({ ...plain, q: query })).toEqual(index.search({ ...plain, q: 'right retry charged' }))
  })

  test('finds the identifiers of a body by their parts', () => {
    const coding = createSearchIndex()
    coding.put({ ...searched, content: toContentVector('Call `useEffectEvent` and `parse_row` for kubectl.') })
    for (const q of ['effect event', 'useEffectEvent kubectl', 'parse row', 'PARSE_ROW kubectl']) {
      expect(coding.search({ ...plain, q }).ids).toEqual([1])
    }
  })

  test('finds a skill without a stored vector by its headings, summary and category', () => {
    const bare = createSearchIndex()
    const texts = { headings: ['Rotate keys'], summary: 'Signs deliveries.', category: 'Security' }
    const { content: _content, ...document } = searched
    bare.put({ ...document, ...texts })
    expect(bare.search({ ...plain, q: 'rotating the keys that sign a delivery for security' }).ids).toEqual([1])
  })

  test('finds a skill by the words of its new version, and no longer by those of the old version', () => {
    const changing = createSearchIndex()
    changing.put(searched)
    changing.put({ ...searched, content: toContentVector('Reads thermometers hourly.') })
    expect(changing.search({ ...plain, q: 'hourly thermometer' }).ids).toEqual([1])
    expect(changing.search({ ...plain, q: 'duplicate customer' }).total).toBe(0)
  })

  test('finds a private skill by its words only for its readers', () => {
    const hiding = createSearchIndex()
    hiding.put({ ...searched, audience: 'readers', readers: ['ada'] })
    expect(hiding.search({ ...plain, q: 'duplicate charges' }).total).toBe(0)
    expect(hiding.search({ ...plain, q: 'duplicate charges', viewer: ['bob'] }).total).toBe(0)
    expect(hiding.search({ ...plain, q: 'duplicate charges', viewer: ['ada'] }).ids).toEqual([1])
  })

  test('accepts queries of any length, script and content', () => {
    const many = Array.from({ length: 400 }, (_, i) => `word${i}`).join(' ')
    const queries = ['charge '.repeat(300), 'x'.repeat(2000), many, '?!.,;'.repeat(400), '重'.repeat(2000)]
    for (const q of queries) expect(index.search({ ...plain, q }).total).toBeGreaterThanOrEqual(0)
    expect(find('dup\u200blicate eve\u00adnts')).toEqual([1])
    expect(find('повтор duplicate 重复 イベント events')).toEqual([1])
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 3000 }), (q) => find(q).length <= 2))
  })
})
