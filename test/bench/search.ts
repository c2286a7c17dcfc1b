import { createRequire } from 'node:module'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type Sqlite from 'better-sqlite3'
import type { Figure } from './figures.ts'
import { seededRandom } from '../support/random.ts'
import { createSearchIndex } from '../../packages/core/src/search/search-index.ts'
import { toContentVector } from '../../packages/core/src/search/term-vector.ts'
import { type BenchDocument, type QuerySet, readQuerySets, readRecords } from './search-queries.ts'
import { outlineSkillMd, parseSkillMd, readSkillFields } from '@skillstead/skill-format'

/** Something that finds skills, best first. */
interface Engine {
  put(document: BenchDocument): void
  find(q: string, limit: number): number[]
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
/** Each query is timed so often, so that one pause of the garbage collector is not the p99. */
const passes = 3
const broadWords = ['code', 'data', 'agent', 'file', 'api', 'skill', 'workflow', 'test', 'create', 'project', 'design']
const requireFromCore = createRequire(new URL('../../packages/core/package.json', import.meta.url))

/** Takes seconds for some described needs in many skills, and is measured with the corpus only. */
const slowEngine = 'MiniSearch with body'

const engines: Record<string, () => Engine> = {
  'MiniSearch defaults': () => miniSearch(['name', 'description', 'headings']),
  [slowEngine]: () => miniSearch(['name', 'description', 'headings', 'body']),
  'FTS5 with body': fullText,
  'Skillstead without bodies': () => ours({ hasBodies: false }),
  Skillstead: () => ours({ hasBodies: true }),
}

/**
 * Prints, for MiniSearch as it comes, SQLite's FTS5 and the search index: the share of known-item queries whose skill is
 * first and among the first ten, for described needs also NDCG@10, milliseconds of a search, and the memory that an
 * index takes.
 */
export function run(corpusDir: string, { isFull = true } = {}): Figure[] {
  const documents = readDocuments(corpusDir)
  const sets = readQuerySets(corpusDir, documents)
  console.log(`${documents.length} skills: share first / among the first ten (/ NDCG@10), milliseconds median / p99`)
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
  const timedSets = sets.filter(({ kind, isNeed }) => isNeed || ['query', 'typo', 'synonym', 'Chinese'].includes(kind))
  const timed = Object.entries(engines)
    .filter(([name]) => name !== slowEngine)
    .map(([name, create]) => [name, measure(create, many, timedSets, false)])
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
  for (const { kind, queries, isNeed } of sets) {
    const quality = withQuality ? `${qualityOf(engine, queries, isNeed)}, ` : ''
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

function qualityOf(engine: Engine, queries: QuerySet['queries'], isNeed = false): string {
  const ranks = queries.map(({ q, isAnswer }) => engine.find(q, 10).findIndex(isAnswer))
  const share = (counts: (rank: number) => boolean) => (ranks.filter(counts).length / ranks.length).toFixed(3)
  // One answer is right: its gain at rank r is 1 / log2(r + 2), and the ideal is 1.
  const gain = ranks.reduce((sum, rank) => sum + (rank < 0 ? 0 : 1 / Math.log2(rank + 2)), 0) / ranks.length
  return [share((rank) => rank === 0), share((rank) => rank >= 0), ...(isNeed ? [gain.toFixed(3)] : [])].join(' / ')
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

function ours({ hasBodies }: { hasBodies: boolean }): Engine {
  const index = createSearchIndex()
  const filters = { includeStubs: false }
  return {
    put: (document) => index.put(hasBodies ? document : { ...document, content: new Uint8Array() }),
    find: (q, limit) => index.search({ q, offset: 0, limit, viewer: null, filters }).ids,
  }
}

function miniSearch(fields: string[]): Engine {
  const MiniSearch = requireFromCore('minisearch') as new (options: object) => {
    add(document: object): void
    search(q: string, options: object): { id: number }[]
  }
  const index = new MiniSearch({ fields })
  return {
    put: ({ id, name, description, headings, body }) =>
      index.add({ id, name, description, headings: headings.join('\n'), body }),
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
    return {
      id,
      ...names,
      ...texts,
      summary,
      body: parsed.body,
      content: toContentVector(skillMd),
      license,
      ...unremarkable,
    }
  })
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
    const text = change(body.slice(0, 4000), round)
    return {
      ...original,
      id,
      fullName: `${fullName}${round}`,
      description: change(description, round),
      headings: headings.map((heading) => change(heading, round)),
      summary: change(summary, round),
      body: text,
      content: toContentVector(text),
    }
  })
}

function usedBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  for (let i = 0; i < 3; i++) collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}
