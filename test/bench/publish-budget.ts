import { hash } from 'node:crypto'
import { join } from 'node:path'
import { deflateRawSync } from 'node:zlib'
import { readOutline } from '@skillstead/scanner'
import { readAccess, scanFiles } from '@skillstead/scanner/rules'
import { toContentVector } from '../../packages/core/src/search/words/term-vector.ts'
import { toSketch } from '../../packages/core/src/catalogue/sketches/sketch.ts'
import { toText, type PublishedText } from './load.ts'
import { readThreadCpuMs, requireSqlite } from './profiler.ts'
import { makeScratch } from './scratch.ts'
import type { StageName } from './stages.ts'

/** CPU time in microseconds: of a part of a publish, and of the least work that could do the same, where there is one. */
export interface BudgetRow {
  readonly part: string
  readonly us: number
  readonly limitUs?: number
  readonly limit?: string
}

/** What a profiled node spent on a publish, in microseconds. */
interface Spent {
  readonly stages: Readonly<Partial<Record<StageName, number>>>
  /** Of the threads other than that of the event loop. */
  readonly threadsUs: number
  /** In the process of the node, which runs SQLite too. */
  readonly sqlite?: { readonly commitUs: number; readonly statementsUs: number }
  /** Of the processes of PostgreSQL. */
  readonly postgresUs?: number
  /** Of all threads and processes. */
  readonly allUs: number
}

const documents = 50
const rounds = 60
const commits = 500
const log = 'x'.repeat(400)

/**
 * The parts of a publish of such a text, which add up to the whole. The limits are measured here and now in one thread;
 * rows that are indented belong to the row above them, and are measured in the same way.
 */
export function toBudget({ stages, ...spent }: Spent, published: PublishedText): BudgetRow[] {
  const texts = Array.from({ length: documents }, (_, i) => toText(published, i))
  const sources = texts.map((text) => [{ path: 'SKILL.md', bytes: Buffer.from(text) }])
  const requests = texts.map((skillMd) => JSON.stringify({ skillMd }))
  const bytes = sources.map(([file]) => file!.bytes)
  const packed = bytes.map((one) => deflateRawSync(one, { level: 1 }))
  const read = measure((i) => bytes[i]!.toString())
  const digest = measure((i) => hash('sha256', bytes[i]!))
  const { row, commit } = measureRows(packed)
  const alone = (run: (i: number) => unknown) => ({ us: measure(run), limitUs: read, limit: 'reading the bytes once' })
  const stage = (...names: StageName[]) => names.reduce((sum, name) => sum + (stages[name] ?? 0), 0)
  const { sqlite, postgresUs } = spent
  const transaction: BudgetRow[] = sqlite
    ? [
        { part: 'transaction: statements', us: sqlite.statementsUs, limitUs: row, limit: 'a row of the content' },
        {
          part: 'transaction: commit',
          us: sqlite.commitUs,
          limitUs: commit,
          limit: 'a commit of that row, with its sync',
        },
      ]
    : [{ part: 'transaction: PostgreSQL', us: postgresUs ?? 0 }]
  const rows: BudgetRow[] = [
    { part: 'HTTP', us: stage('HTTP', 'write to the socket') },
    { part: 'routing', us: stage('routing') },
    { part: 'admission, limits, metrics', us: stage('admission, limits, metrics') },
    { part: 'parse', us: stage('parse'), limitUs: measure((i) => JSON.parse(requests[i]!)), limit: 'JSON.parse' },
    { part: 'digest, compress', us: stage('content: hash, compress'), limitUs: digest, limit: 'SHA-256' },
    { part: 'threads: scan, sketch, V8', us: spent.threadsUs, limitUs: read, limit: 'reading the bytes once' },
    { part: '  scan, in this thread', ...alone((i) => scanFiles(sources[i]!, 0, undefined)) },
    { part: '  access and outline', ...alone((i) => [readAccess(sources[i]!), readOutline(sources[i]!)]) },
    { part: '  sketch of copies', ...alone((i) => toSketch(bytes[i]!)) },
    { part: '  terms of the search', ...alone((i) => toContentVector(texts[i]!)) },
    { part: 'scan: give and take', us: stage('scan') },
    { part: 'copies: compare', us: stage('copies') },
    { part: 'search index', us: stage('search') },
    { part: 'statements: build, send, read', us: stage('SQL: build, send, read') },
    ...transaction,
    { part: 'log', us: stage('log'), limitUs: measure((i) => hash('sha256', log + i)), limit: 'SHA-256 of an entry' },
    { part: 'answer', us: stage('answer'), limitUs: measure((i) => JSON.stringify(texts[i])), limit: 'JSON.stringify' },
    { part: 'events and jobs', us: stage('events and jobs') },
    { part: 'garbage collection', us: stage('garbage collection') },
    { part: 'the profiler', us: stage('the profiler') },
  ]
  const named = rows.filter(({ part }) => !part.startsWith(' ')).reduce((sum, { us }) => sum + us, 0)
  return [...rows, { part: 'the rest', us: spent.allUs - named }, { part: 'the whole', us: spent.allUs }]
}

/** Inserts rows into a new file as the registry opens one: a row without its commit, and the commit of one row. */
function measureRows(contents: readonly Uint8Array[]): { row: number; commit: number } {
  const database = new (requireSqlite())(join(makeScratch('budget'), 'rows.db'))
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = FULL')
  database.exec('create table contents (num integer primary key, bytes blob not null)')
  const insert = database.prepare('insert into contents (bytes) values (?)')
  const row = database.transaction(() => measure((i) => insert.run(contents[i]!)))()
  // Not the shortest time: it waits for the disk.
  const startedMs = readThreadCpuMs()
  for (let i = 0; i < commits; i++) insert.run(contents[i % documents]!)
  const commit = ((readThreadCpuMs() - startedMs) * 1000) / commits - row
  database.close()
  return { row, commit }
}

/** The shortest time of a run in microseconds, once V8 has compiled what runs: the clock of a thread is too coarse. */
function measure(run: (i: number) => unknown): number {
  const times = Array.from({ length: rounds }, () => {
    const startedMs = performance.now()
    for (let i = 0; i < documents; i++) run(i)
    return performance.now() - startedMs
  })
  return (Math.min(...times) * 1000) / documents
}
