import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { SearchDocument } from '../../packages/core/src/search/search-document.ts'
import { parseQuery } from '../../packages/core/src/search/words/tokenize.ts'
import { seededRandom } from '../support/random.ts'

/** A skill to index; only engines that take the body read it. */
export interface BenchDocument extends SearchDocument {
  /** The whole document, and its part after the frontmatter. */
  skillMd: string
  body: string
}

/** Queries whose answer is known, and what they show. */
export interface QuerySet {
  kind: string
  /** Whether to print NDCG@10 too: for described needs. */
  isNeed?: boolean
  queries: { q: string; isAnswer: (id: number) => boolean; source?: string }[]
}

const drawnQueries = 400
const cjk = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u

/** All sets of queries for the corpus in a folder. */
export function readQuerySets(corpusDir: string, documents: BenchDocument[]): QuerySet[] {
  const all = [...givenQueries(corpusDir), ...needs(corpusDir, documents), ...drawnQuerySets(documents)]
  // Skills that are made up have no queries with synonyms, nor any in Chinese.
  return all.filter(({ queries }) => queries.length > 0)
}

/** The records of the open corpus. */
export function readRecords(
  corpusDir: string,
): { id: string; name: string; repo: string; skillMd: string; license: string }[] {
  return parseLines(gunzipSync(readFileSync(join(corpusDir, 'open.ndjson.gz'))).toString())
}

/** The corpus's own queries: as written, with a typo, with a synonym; those in Chinese and Japanese apart. */
function givenQueries(corpusDir: string): QuerySet[] {
  const numbers = new Map(readRecords(corpusDir).map(({ id }, i) => [id, i]))
  const lines = parseLines<Record<'query' | 'typoQuery' | 'synonymQuery', string> & { answer: { id: string } }>(
    readFileSync(join(corpusDir, 'queries-open.ndjson'), 'utf8'),
  )
  const toSet = (kind: string, key: 'query' | 'typoQuery' | 'synonymQuery', isCjk: boolean): QuerySet => ({
    kind,
    queries: lines
      .filter((line) => line[key] && cjk.test(line.query) === isCjk)
      .map((line) => ({ q: line[key], isAnswer: (id) => id === numbers.get(line.answer.id) })),
  })
  return [
    toSet('query', 'query', false),
    toSet('typo', 'typoQuery', false),
    toSet('synonym', 'synonymQuery', false),
    toSet('Chinese', 'query', true),
    toSet('Chinese, typo', 'typoQuery', true),
  ]
}

/** The described needs of the corpus, short and long. A skill with the name of the answer is a copy of it. */
function needs(corpusDir: string, documents: BenchDocument[]): QuerySet[] {
  const records = new Map(readRecords(corpusDir).map(({ id, repo }, i) => [id, { number: i, repo }]))
  const path = join(corpusDir, 'tasks-open.ndjson')
  if (!existsSync(path)) return []
  const lines = parseLines<Record<'short' | 'task', string> & { answer: { id: string } }>(readFileSync(path, 'utf8'))
  return (['short', 'task'] as const).map((key) => ({
    kind: `need, ${key}`,
    isNeed: true,
    queries: lines.map((line) => {
      const { number, repo } = records.get(line.answer.id)!
      const { name } = documents[number]!
      return { q: line[key], source: repo, isAnswer: (id) => documents[id]!.name === name }
    }),
  }))
}

/**
 * Queries drawn from the skills themselves, always the same: three to five words of a sentence in another order, the
 * same with one letter wrong, and names. Skills repeat each other, so that no engine can place all of them first.
 */
function drawnQuerySets(documents: BenchDocument[]): QuerySet[] {
  const random = seededRandom(1)
  const drawn = documents.flatMap(({ id, name, description, headings }) => {
    const sentences = [...description.split(/[.!?;:]\s/), ...headings]
    const { terms } = parseQuery(sentences[Math.floor(random() * sentences.length)]!)
    const telling = terms.filter((term) => /^[a-z]{4,}$/.test(term) && !name.includes(term))
    const start = Math.floor(random() * Math.max(1, telling.length - 3))
    const chosen = telling.slice(start, start + 3 + Math.floor(random() * 3))
    return chosen.length < 3
      ? []
      : [{ words: chosen.toSorted(() => random() - 0.5), isAnswer: (other: number) => other === id }]
  })
  const some = drawn.filter((_, i) => i % Math.ceil(drawn.length / drawnQueries) === 0)
  const named = documents.filter(({ id }) => id % Math.ceil(documents.length / drawnQueries) === 0)
  return [
    { kind: 'shuffled', queries: some.map(({ words, isAnswer }) => ({ q: words.join(' '), isAnswer })) },
    { kind: 'shuffled, typo', queries: some.map(({ words, isAnswer }) => ({ q: misspell(words, random), isAnswer })) },
    {
      kind: 'name',
      queries: named.map(({ name }) => ({
        q: name.replaceAll('-', ' '),
        isAnswer: (id) => documents[id]!.name === name,
      })),
    },
  ]
}

function misspell(words: string[], random: () => number): string {
  const chosen = Math.floor(random() * words.length)
  return words
    .map((word, i) => {
      if (i !== chosen) return word
      const at = 1 + Math.floor(random() * (word.length - 2))
      const middle = [
        word[at + 1]! + word[at]!,
        word[at + 1]!,
        word[at]!.repeat(2) + word[at + 1]!,
        `e${word[at + 1]!}`,
      ]
      return word.slice(0, at) + middle[Math.floor(random() * middle.length)]! + word.slice(at + 2)
    })
    .join(' ')
}

function parseLines<T>(text: string): T[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as T)
}
