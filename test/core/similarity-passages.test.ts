import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  comparerWith,
  findSharedPassages,
  measureSimilarity,
  placeWords,
  toCompared,
} from '../../packages/core/src/catalogue/sketches/similarity.ts'
import {
  comparedCharactersMax,
  foldComparedText,
  splitFoldedWords,
  toShingles,
  hashBodyWords,
} from '../../packages/core/src/catalogue/sketches/shingles.ts'
import { sketchWords, toSketch } from '../../packages/core/src/catalogue/sketches/sketch.ts'
import { skillMd } from '../support/answers.ts'

const word = fc.stringMatching(/^[a-z]{1,8}$/)
const text = (min: number, max: number) =>
  fc.array(word, { minLength: min, maxLength: max }).map((words) => words.join(' '))
const numbered = (from: number, words: number) => Array.from({ length: words }, (_, i) => `w${from + i}`).join(' ')
const bytes = (body: string) => Buffer.from(skillMd('x', { body }))

describe('words of a body', () => {
  it.each([
    ['Read the file.', ['read', 'the', 'file']],
    ["don't stop", ['don', 't', 'stop']],
    ['API_KEY=1', ['api', 'key', '1']],
    ['图像 file处理', ['图', '像', 'file', '处', '理']],
    ['สวัสดี', ['ส', 'วั', 'ส', 'ดี']],
    ['ＡＢＣ naïve ﬁne', ['abc', 'naïve', 'fine']],
    ['𠮷野 𝒜', ['𠮷', '野', 'a']],
    ['— ** 🎉', []],
    ['', []],
  ])('in %j are %j', (body, words) => {
    const folded = foldComparedText(body)
    const { starts, ends, hashes } = splitFoldedWords(folded)
    expect([...starts].map((start, i) => folded.slice(start, ends[i]))).toEqual(words)
    expect(hashes).toHaveLength(words.length)
  })

  it('have the same hashes in every release, since they are stored', () => {
    const words = hashBodyWords('Read the file, then sum it up.')
    expect([...words]).toEqual([-824204347, -1274105316, -1427482813, -450696842, -582075736, 1194886160, 1128467232])
    expect([...toShingles(words)]).toEqual([22332902144337, 85220717407949, 109605064098975])
  })
})

it('the text for a comparison has a limited length, even if one character expands to 18 characters', () => {
  expect(foldComparedText('\ufdfa'.repeat(comparedCharactersMax))).toHaveLength(comparedCharactersMax)
})

describe('boilerplate', () => {
  const common = [
    'This project is licensed under the MIT License',
    'Clarify goals, constraints, and required inputs. Apply relevant best practices and validate outcomes. Provide actionable steps and verification.',
  ].join('. ')
  const own = (from: number) => `${common}\n${numbered(from, 12)}\nWhen to use this skill\n${numbered(from + 20, 12)}`

  it('does not count: two texts that share nothing else are not similar', () => {
    expect(measureSimilarity(own(0), own(100))).toBeLessThan(0.4)
    expect(measureSimilarity(own(0), own(0).replaceAll(/[.:]/g, ' '))).toBe(1)
    const [a, b] = [0, 100].map((from) =>
      placeWords(skillMd('x', { body: `When to use this skill\n${numbered(from, 9)}` })),
    )
    expect(findSharedPassages(a!, b!)).toEqual([])
  })

  it('does not lower the similarity of copied text next to it', () => {
    expect(measureSimilarity(`${common}\n${numbered(0, 40)}`, numbered(0, 40))).toBe(1)
  })
})

describe('kinds of similarity', () => {
  it.each([
    ['the same but for case and marks', numbered(0, 60), `# ${numbered(0, 60).toUpperCase()}!`, 'exact', 1],
    ['one word changed', numbered(0, 100), numbered(0, 100).replace('w50', 'other'), 'near', 0.9479],
    ['a part of a long one', numbered(0, 30), numbered(0, 300), 'partial', 1],
    [
      'half of it',
      `${numbered(0, 52)} ${numbered(500, 52)}`,
      `${numbered(0, 52)} ${numbered(700, 52)}`,
      'partial',
      0.48,
    ],
    ['nothing', numbered(0, 50), numbered(50, 50), 'partial', 0],
  ] as const)('%s', (_, a, b, kind, similarity) => {
    const comparison = comparerWith(toCompared(a))(toCompared(b))
    expect(comparison.kind).toBe(kind)
    expect(comparison.similarity).toBeCloseTo(similarity, 2)
    expect(comparerWith(toCompared(b))(toCompared(a))).toEqual(comparison)
  })
})

describe('sketches for finding similar bodies', () => {
  it('have a limited number of stored and looked-up hashes, and every stored hash is looked up', () => {
    fc.assert(
      fc.property(text(0, 3000), (body) => {
        const { shingleCount, kept, lookedUp } = toSketch(bytes(body))
        expect(lookedUp).toEqual(expect.arrayContaining([...kept]))
        expect(lookedUp.length).toBeLessThanOrEqual(Math.min(1100, shingleCount))
        expect(kept.length).toBeLessThanOrEqual(40 + 3 * Math.sqrt(shingleCount))
        expect(lookedUp.every((shingle) => Number.isSafeInteger(shingle) && shingle >= 0)).toBe(true)
      }),
      { numRuns: 30 },
    )
  })

  it.each([40, 84, 113, 300])('of %i words store enough hashes to find the text again after some changes', (words) => {
    const kept = Array.from({ length: 200 }, (_, i) => toSketch(bytes(numbered(1000 * i, words))).kept.length)
    expect(Math.min(...kept)).toBeGreaterThan(12)
  })

  it('of a whole body and of a part of the body share several hashes', () => {
    const whole = toSketch(bytes(numbered(0, 4000)))
    const part = toSketch(bytes(numbered(1000, 400)))
    expect(part.kept.filter((shingle) => whole.lookedUp.includes(shingle)).length).toBeGreaterThan(5)
    expect(whole.kept.filter((shingle) => part.lookedUp.includes(shingle)).length).toBeGreaterThan(2)
  })

  it('ignore the order of passages, case, white space and frontmatter', () => {
    fc.assert(
      fc.property(text(12, 80), text(12, 80), (a, b) => {
        const dressed = skillMd('other', { body: `${a.toUpperCase()}\n\n-\t${b}`, description: 'Another.' })
        expect(toSketch(Buffer.from(dressed))).toEqual(toSketch(bytes(`${a} ${b}`)))
      }),
    )
  })

  it('of a very short body are empty', () => {
    for (const body of ['', '🎉', 'Steps to follow.', numbered(0, 11)])
      expect(toSketch(bytes(body))).toEqual({ shingleCount: 0, kept: [], lookedUp: [] })
    expect(toSketch(bytes(numbered(0, 12))).kept.length).toBeGreaterThan(0)
  })

  it('of a body of ten megabytes have a limited size, and cover only the beginning of the body', () => {
    const long = toSketch(bytes('中文字'.repeat(1_000_000) + numbered(0, 1000)))
    expect(long.lookedUp.length).toBeLessThanOrEqual(3)
    const wide = toSketch(bytes(numbered(0, 1_200_000)))
    expect(wide.lookedUp.length).toBeLessThan(1100)
    expect(wide.shingleCount).toBeLessThan(60_000)
  })

  it('contain the few distinct words of a long repetitive list', () => {
    expect(sketchWords(hashBodyWords('the same row again '.repeat(5000))).lookedUp.length).toBeLessThanOrEqual(4)
  })
})

describe('passages that two documents share', () => {
  const one = skillMd('one', {
    body: `# Mine\n\n${numbered(0, 20)}\n\nOwn words here.\n\nThen: ${numbered(50, 40)}.\n`,
  })
  const other = skillMd('other', { body: `Foreword.\n${numbered(50, 40).toUpperCase()}\n\n${numbered(0, 20)}\n` })

  it('are the longest runs of words, longest first, with the text of the first document and both line numbers', () => {
    expect(findSharedPassages(placeWords(one), placeWords(other))).toEqual([
      { text: numbered(50, 40), line: lineOf(one, 'Then:'), otherLine: lineOf(other, 'W50') },
      { text: numbered(0, 20), line: lineOf(one, 'w0 '), otherLine: lineOf(other, 'w0 ') },
    ])
  })

  it('are at most five, of at most 500 characters each', () => {
    const runs = Array.from({ length: 8 }, (_, i) => numbered(i * 1000, 200 + i))
    const apart = (mark: string) => skillMd('x', { body: runs.map((run, i) => `${mark}${i} ${run}`).join('\n') })
    const passages = findSharedPassages(placeWords(apart('a')), placeWords(apart('b')))
    expect(passages).toHaveLength(5)
    for (const { text: shown } of passages) expect(shown.length).toBeLessThanOrEqual(500)
    expect(passages[0]!.text.startsWith('w7000 ')).toBe(true)
  })

  it('are at the reported lines of both documents', () => {
    fc.assert(
      fc.property(fc.array(text(3, 12), { minLength: 1, maxLength: 8 }), text(8, 20), (lines, shared) => {
        const [a, b] = [
          [...lines, shared],
          [shared, ...lines.toReversed()],
        ].map((all) => skillMd('x', { body: all.join('\n') })) as [string, string]
        for (const passage of findSharedPassages(placeWords(a), placeWords(b))) {
          const [first] = passage.text.split(/\s/)
          expect(a).toContain(passage.text)
          expect(a.split('\n')[passage.line - 1]).toContain(first)
          expect(b.split('\n')[passage.otherLine - 1]).toContain(first)
        }
      }),
    )
  })

  it('are whole lines if they have characters whose length changes in lower case', () => {
    const [a, b] = ['a', 'b'].map((name) => skillMd(name, { body: `ﬁve words and some more: ${numbered(0, 10)}` }))
    expect(findSharedPassages(placeWords(a!), placeWords(b!))[0]!.text).toContain('ﬁve words and')
  })
})

function lineOf(document: string, start: string): number {
  return document.split('\n').findIndex((line) => line.startsWith(start)) + 1
}
