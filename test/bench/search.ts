import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { gunzipSync } from 'node:zlib'
import type Sqlite from 'better-sqlite3'
import type { Figure } from './figures.ts'
import { seededRandom } from '../support/random.ts'
import { createSearchIndex, type SearchDocument } from '../../packages/core/src/search/search-index.ts'
import { parseQuery } from '../../packages/core/src/search/tokenize.ts'
import { outlineSkillMd, parseSkillMd, readSkillFields } from '@skillstead/skill-format'

/** A skill to index; only engines that take the body read it. */
interface BenchDocument extends SearchDocument {
  body: string
}

/** Something that finds skills, best first. */
interface Engine {
  put(document: BenchDocument): void
  find(q: string, limit: number): number[]
}

/** Queries whose answer is known, and what they show. */
interface QuerySet {
  kind: string
  queries: { q: string; isAnswer: (id: number) => boolean }[]
}

/** What does not matter here. */
const unremarkable = {
  category: '',
  visibility: 'public' as const,
  readers: [],
  stub: false,
  verified: false,
  deprecated: false,
  securityScore: null,
  downloads: 0,
  stars: 0,
  publishedAt: 0,
}
const manyDocuments = 50_000
const drawnQueries = 400
/** Each query is timed so often, so that one pause of the garbage collector is not the p99. */
const passes = 3
const broadWords = ['code', 'data', 'agent', 'file', 'api', 'skill', 'workflow', 'test', 'create', 'project', 'design']
const cjk = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u
const requireFromCore = createRequire(new URL('../../packages/core/package.json', import.meta.url))

const engines: Record<string, () => Engine> = { 'MiniSearch defaults': miniSearch, FTS5: fullText, Skillstead: ours }

/**
 * Prints, for MiniSearch as it comes, SQLite's FTS5 and the search index: the share of known-item queries whose skill is
 * first and among the first ten, milliseconds of a search, and the memory that an index takes.
 */
export function run(corpusDir: string, { isFull = true } = {}): Figure[] {
  const documents = readDocuments(corpusDir)
  const all = [...givenQueries(corpusDir), ...drawnQuerySets(documents)]
  // Skills that are made up have no queries with synonyms, nor any in Chinese.
  const sets = all.filter(({ queries }) => queries.length > 0)
  console.log(`${documents.length} skills: share first / among the first ten, milliseconds median / p99`)
  const rows = Object.entries(engines).map(([name, create]) => [name, measure(create, documents, sets)] as const)
  console.table(Object.fromEntries(rows))
  if (isFull) benchMany(documents, sets)
  const part = `Known-item search in ${documents.length.toLocaleString('en')} skills`
  const name = 'share of queries whose skill comes first'
  return rows.map(([engine, row]) => ({ part, name: `${name}, ${engine}`, value: parseFloat(row['query']!), unit: '' }))
}

function benchMany(documents: BenchDocument[], sets: QuerySet[]): void {
  const many = multiply(documents, manyDocuments)
  console.log(`${many.length} skills, most of them the same with other words: milliseconds median / p99`)
  const timed = Object.entries(engines).map(([name, create]) => [name, measure(create, many, sets.slice(0, 4), false)])
  console.table(Object.fromEntries(timed))
}

/** The figures of one engine with one catalogue; quality only where the answers are unique in it. */
function measure(create: () => Engine, documents: BenchDocument[], sets: QuerySet[], withQuality = true) {
  const memoryBefore = usedBytes()
  const engine = create()
  const startMs = performance.now()
  for (const document of documents) engine.put(document)
  const buildMs = performance.now() - startMs
  const megabytes = Math.max(0, Math.round((usedBytes() - memoryBefore) / 1e6))
  const row: Record<string, string> = { build: `${Math.round(buildMs)} ms, ${megabytes} MB of heap` }
  const all = sets.flatMap(({ queries }) => queries.map(({ q }) => q))
  for (const q of all) engine.find(q, 20) // warm up
  for (const { kind, queries } of sets) {
    const quality = withQuality ? `${qualityOf(engine, queries)}, ` : ''
    row[kind] =
      quality +
      timesOf(
        engine,
        queries.map(({ q }) => q),
      )
  }
  const broad = Array.from({ length: 10 }, () => broadWords).flat()
  row['broad word'] = timesOf(engine, broad)
  return row
}

function qualityOf(engine: Engine, queries: QuerySet['queries']): string {
  const ranks = queries.map(({ q, isAnswer }) => engine.find(q, 10).findIndex(isAnswer))
  const share = (counts: (rank: number) => boolean) => (ranks.filter(counts).length / ranks.length).toFixed(3)
  return `${share((rank) => rank === 0)} / ${share((rank) => rank >= 0)}`
}

function timesOf(engine: Engine, queries: string[]): string {
  const times = Array.from({ length: passes }, () => queries)
    .flat()
    .map((q) => {
      const startMs = performance.now()
      engine.find(q, 20)
      return performance.now() - startMs
    })
    .toSorted((a, b) => a - b)
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))]!.toFixed(2)
  return `${at(0.5)} / ${at(0.99)} ms`
}

function ours(): Engine {
  const index = createSearchIndex()
  const filters = { includeStubs: false }
  return {
    put: (document) => index.put(document),
    find: (q, limit) => index.search({ q, offset: 0, limit, viewer: null, filters }).ids,
  }
}

function miniSearch(): Engine {
  const fields = ['name', 'description', 'headings']
  const MiniSearch = requireFromCore('minisearch') as new (options: object) => {
    add(document: object): void
    search(q: string, options: object): { id: number }[]
  }
  const index = new MiniSearch({ fields })
  return {
    put: ({ id, name, description, headings }) => index.add({ id, name, description, headings: headings.join('\n') }),
    find: (q, limit) =>
      index
        .search(q, { boost: { name: 4, description: 2 } })
        .slice(0, limit)
        .map(({ id }) => id),
  }
}

function fullText(): Engine {
  const Database = requireFromCore('better-sqlite3') as typeof Sqlite
  const database = new Database(':memory:')
  database.exec(`CREATE VIRTUAL TABLE skills USING fts5(name, description, body, tokenize = 'porter unicode61')`)
  const insert = database.prepare('INSERT INTO skills (rowid, name, description, body) VALUES (?, ?, ?, ?)')
  const select = database
    .prepare('SELECT rowid FROM skills WHERE skills MATCH ? ORDER BY bm25(skills, 8, 4, 1) LIMIT ?')
    .pluck()
  return {
    put: ({ id, name, description, body }) => void insert.run(id, name, description, body),
    find: (q, limit) => {
      const words = q.match(/[\p{L}\p{N}]+/gu) ?? []
      return select.all(words.map((word) => `"${word}"`).join(' OR ') || '""', limit) as number[]
    },
  }
}

/** The open corpus as the registry would index it. */
function readDocuments(corpusDir: string): BenchDocument[] {
  return readRecords(corpusDir).map(({ name, repo, skillMd, license }, id) => {
    const parsed = parseSkillMd(skillMd)
    const fields = readSkillFields(parsed)
    const { headings, summary } = outlineSkillMd(parsed.body)
    const owner = repo.split('/')[0]!.toLowerCase()
    const slug = fields.name ?? fields.nameSlug ?? `skill-${id}`
    const names = { name: slug, owner, fullName: `${owner}/${slug}`, displayName: fields.displayName ?? name }
    const texts = { keywords: [...fields.keywords], description: fields.description ?? '', headings: [...headings] }
    return { id, ...names, ...texts, summary, body: parsed.body, license, ...unremarkable }
  })
}

function readRecords(
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

/** Copies of the skills in which a quarter of the words are others of the corpus, and one in fifty is new. */
function multiply(documents: BenchDocument[], count: number): BenchDocument[] {
  const random = seededRandom(2)
  const pool = documents.flatMap(({ description }) => description.split(/\s+/))
  const change = (text: string, round: number) =>
    text.replace(/\p{L}{3,}/gu, (word) => {
      const dice = random()
      if (dice < 0.25) return pool[Math.floor(random() * pool.length)]!
      return dice < 0.27 ? word + round : word
    })
  return Array.from({ length: count }, (_, id) => {
    const original = documents[id % documents.length]!
    const round = Math.floor(id / documents.length)
    if (round === 0) return original
    const { fullName, description, headings, summary, body } = original
    return {
      ...original,
      id,
      fullName: `${fullName}${round}`,
      description: change(description, round),
      headings: headings.map((heading) => change(heading, round)),
      summary: change(summary, round),
      body: change(body.slice(0, 4000), round),
    }
  })
}

function parseLines<T>(text: string): T[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as T)
}

function usedBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  for (let i = 0; i < 3; i++) collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}
