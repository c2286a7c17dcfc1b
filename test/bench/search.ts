import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Figure } from './figures.ts'
import { seededRandom } from '../support/random.ts'
import type { Engine, NamedEngine } from './search-engines.ts'
import { quantile } from './statistics.ts'
import { toContentVector } from '../../packages/core/src/search/words/term-vector.ts'
import { type BenchDocument, type QuerySet, readQuerySets, readRecords } from './search-queries.ts'
import { outlineSkillMd, parseSkillMd, readSkillFields } from '@skillstead/skill-format'

/** What does not matter here. */
const unremarkable = {
  category: '',
  audience: 'guests' as const,
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
}
const manyDocuments = 50_000
/** Each query is timed so often, so that one pause of the garbage collector is not the p99. */
const repetitions = 3
/** With many skills, engines that are timed once take seconds for some queries. */
const timedShare = 8
/** Number of hits that are asked for, and those among which an answer counts as found. */
const hitsMax = 20
const rankMax = 10
const broadWords = ['code', 'data', 'agent', 'file', 'api', 'skill', 'workflow', 'test', 'create', 'project', 'design']

/**
 * Prints for engines, such as MiniSearch as it comes, SQLite's FTS5 and the search index: the share of
 * known-item queries whose skill is first and among the first ten, for described needs also NDCG@10, milliseconds of a
 * search, and the memory that an index takes. A second table has the needs by the source of their answers.
 */
export async function run(
  corpusDir: string,
  { engines, isFull = true }: { engines: readonly NamedEngine[]; isFull?: boolean },
): Promise<Figure[]> {
  const documents = readDocuments(corpusDir)
  const sets = readQuerySets(corpusDir, documents)
  console.log(`${documents.length} skills: share first / among the first ten (/ NDCG@10), milliseconds median / p99`)
  const measured: { name: string; row: Record<string, string>; ranks: Map<string, number[]> }[] = []
  for (const engine of engines) measured.push({ name: engine.name, ...(await measure(engine, documents, sets)) })
  console.table(Object.fromEntries(measured.map(({ name, row }) => [name, row])))
  const needs = sets.filter(({ isNeed }) => isNeed)
  if (needs.length > 0) {
    console.log('Described needs by the source of the answer: share first / among the first ten / NDCG@10')
    console.table(Object.fromEntries(measured.map(({ name, ranks }) => [name, bySource(needs, ranks)])))
  }
  if (isFull) await benchMany(engines, documents, sets)
  const part = `Known-item search in ${documents.length.toLocaleString('en')} skills`
  const name = 'share of queries whose skill comes first'
  return measured.map(({ name: engine, ranks }) => {
    return { part, name: `${name}, ${engine}`, value: Number(shareOf(ranks.get('query')!, isFirst)), unit: '' }
  })
}

async function benchMany(all: readonly NamedEngine[], documents: BenchDocument[], sets: QuerySet[]): Promise<void> {
  const many = multiply(documents, manyDocuments)
  console.log(`${many.length} skills, most of them the same with other words: milliseconds median / p99`)
  console.log(`MiniSearch and FTS5 answer every ${timedShare}th query once.`)
  const timedSets = sets.filter(({ kind, isNeed }) => isNeed || ['query', 'typo', 'synonym', 'Chinese'].includes(kind))
  const fewer = timedSets.map((set) => ({ ...set, queries: set.queries.filter((_, i) => i % timedShare === 0) }))
  const rows: Record<string, Record<string, string>> = {}
  for (const engine of all.filter(({ isSlow }) => !isSlow)) {
    rows[engine.name] = (await measure(engine, many, engine.isTimedOnce ? fewer : timedSets, false)).row
  }
  console.table(rows)
}

/** The figures of one engine with one catalogue; quality only where the answers are unique in it. */
async function measure(
  { create, isTimedOnce }: NamedEngine,
  documents: BenchDocument[],
  sets: QuerySet[],
  withQuality = true,
): Promise<{ row: Record<string, string>; ranks: Map<string, number[]> }> {
  const memoryBefore = usedBytes()
  const engine = await create()
  let [buildMs, slowestMs] = [0, 0]
  for (const document of documents) {
    const ready = engine.prepare?.(document) ?? document
    const ms = await timeOf(() => engine.put(ready))
    buildMs += ms
    slowestMs = Math.max(slowestMs, ms)
  }
  buildMs += await timeOf(() => engine.finish?.())
  const megabytes = Math.round((Math.max(0, usedBytes() - memoryBefore) + (engine.bytes?.() ?? 0)) / 1e6)
  const row: Record<string, string> = {
    memory: `${megabytes} MB`,
    'all skills put': `${Math.round(buildMs)} ms, one at most ${slowestMs.toFixed(1)} ms`,
  }
  const ranks = new Map<string, number[]>()
  for (const { kind, queries, isNeed } of sets) {
    const answers: { ids: number[]; ms: number }[] = []
    for (const { q } of queries) answers.push(await timedFind(engine, q))
    const ranksOfKind = answers.map(({ ids }, i) => ids.slice(0, rankMax).findIndex(queries[i]!.isAnswer))
    ranks.set(kind, ranksOfKind)
    const quality = withQuality ? `${qualityOf(ranksOfKind, isNeed)}, ` : ''
    // The first pass has warmed up the engine; one that is timed once is not asked again.
    const times = isTimedOnce
      ? answers.map(({ ms }) => ms)
      : await timesOf(
          engine,
          queries.map(({ q }) => q),
        )
    row[kind] = quality + toMedianAndTail(times)
  }
  const broad = Array.from({ length: isTimedOnce ? 1 : 10 }, () => broadWords).flat()
  row['broad word'] = toMedianAndTail(await timesOf(engine, broad))
  await engine.close?.()
  return { row, ranks }
}

/** The quality of described needs for the source with most of them, for the next four, and for the others. */
function bySource(needs: QuerySet[], ranks: ReadonlyMap<string, number[]>): Record<string, string> {
  const sources = Map.groupBy(needs[0]!.queries, ({ source }) => source)
  const ordered = [...sources].toSorted(([, a], [, b]) => b.length - a.length).map(([source]) => source)
  const groups = { [ordered[0]!]: ordered.slice(0, 1), 'the next four': ordered.slice(1, 5), others: ordered.slice(5) }
  return Object.fromEntries(
    needs.flatMap(({ kind, queries }) =>
      Object.entries(groups).map(([group, members]) => {
        const own = ranks.get(kind)!.filter((_, i) => members.includes(queries[i]!.source))
        return [`${kind}: ${group} (${own.length})`, qualityOf(own, true)]
      }),
    ),
  )
}

const isFirst = (rank: number) => rank === 0

/** The share of ranks that pass; a rank of -1 stands for an answer that is not among the first. */
function shareOf(ranks: number[], passes: (rank: number) => boolean): string {
  return (ranks.filter(passes).length / ranks.length).toFixed(3)
}

function qualityOf(ranks: number[], isNeed = false): string {
  // One answer is right: its gain at rank r is 1 / log2(r + 2), and the ideal is 1.
  const gain = ranks.reduce((sum, rank) => sum + (rank < 0 ? 0 : 1 / Math.log2(rank + 2)), 0) / ranks.length
  const shares = [shareOf(ranks, isFirst), shareOf(ranks, (rank) => rank >= 0)]
  return [...shares, ...(isNeed ? [gain.toFixed(3)] : [])].join(' / ')
}

async function timesOf(engine: Engine, queries: string[]): Promise<number[]> {
  const times: number[] = []
  for (let i = 0; i < repetitions; i++) for (const q of queries) times.push((await timedFind(engine, q)).ms)
  return times
}

async function timedFind(engine: Engine, q: string): Promise<{ ids: number[]; ms: number }> {
  let ids: number[] = []
  const ms = await timeOf(async () => (ids = await engine.find(q, hitsMax)))
  return { ids, ms }
}

async function timeOf(work: () => unknown): Promise<number> {
  const startMs = performance.now()
  await work()
  return performance.now() - startMs
}

function toMedianAndTail(times: number[]): string {
  return `${quantile(times, 0.5).toFixed(2)} / ${quantile(times, 0.99).toFixed(2)} ms`
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
      skillMd,
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
      skillMd: text,
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
