import { createRequire } from 'node:module'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type Sqlite from 'better-sqlite3'
import MiniSearch from 'minisearch'
import { createSearchIndex } from '../../packages/core/src/search/search-index.ts'
import { checkOut, workspace } from './revision.ts'
import type { BenchDocument } from './search-queries.ts'

/** Something that finds skills, best first. */
export interface Engine {
  /** Computes what is known of a skill before it is put: not a part of the time that the index needs. */
  prepare?(document: BenchDocument): BenchDocument
  put(document: BenchDocument): void
  /** Ends putting; its time counts as that of putting. */
  finish?(): Promise<void>
  find(q: string, limit: number): number[] | Promise<number[]>
  /** Bytes of memory that the JavaScript heap does not contain. */
  bytes?(): number
  close?(): Promise<void>
}

/** An engine by its name in the tables. */
export interface NamedEngine {
  readonly name: string
  /** Whether searches are timed only once, and with many skills only some of them, because they take long. */
  readonly isTimedOnce?: boolean
  /** Whether the engine takes seconds for some described needs: it is only measured with the corpus. */
  readonly isSlow?: boolean
  create(): Engine | Promise<Engine>
}

const skillstead = 'Skillstead'

export const engines: readonly NamedEngine[] = [
  { name: 'MiniSearch defaults', isTimedOnce: true, create: () => miniSearch(['name', 'description', 'headings']) },
  {
    name: 'MiniSearch with body',
    isTimedOnce: true,
    isSlow: true,
    create: () => miniSearch(['name', 'description', 'headings', 'body']),
  },
  { name: 'FTS5 with body', isTimedOnce: true, create: fullText },
  {
    name: `${skillstead} without bodies`,
    create: () => toEngine(createSearchIndex(), (document) => ({ ...document, content: new Uint8Array() })),
  },
  { name: skillstead, create: () => toEngine(createSearchIndex()) },
]

const requireFromCore = createRequire(join(workspace, 'packages/core/package.json'))

/** Reads the search engine of another revision of this repository. */
export async function readEngineOf(revision: string): Promise<NamedEngine> {
  const folder = checkOut(revision)
  const load = (file: string) => import(pathToFileURL(join(folder, 'packages/core/src/search', file)).href)
  const { createSearchIndex: create } = (await load('search-index.ts')) as {
    createSearchIndex: typeof createSearchIndex
  }
  const paths = ['words/term-vector.ts', 'term-vector.ts']
  const vectors = paths.find((file) => existsSync(join(folder, 'packages/core/src/search', file)))
  const { toContentVector } = vectors
    ? ((await load(vectors)) as { toContentVector(skillMd: string): Uint8Array })
    : { toContentVector: () => new Uint8Array() }
  return {
    name: `${skillstead} at ${revision}`,
    create: () => toEngine(create(), (document) => ({ ...document, content: toContentVector(document.skillMd) })),
  }
}

function toEngine(index: ReturnType<typeof createSearchIndex>, prepare?: Engine['prepare']): Engine {
  const filters = { includeStubs: false }
  return {
    ...(prepare && { prepare }),
    put: (document) => index.put(document),
    find: (q, limit) => index.search({ q, offset: 0, limit, viewer: null, filters }).ids,
  }
}

function miniSearch(fields: string[]): Engine {
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
    bytes: () => {
      return (
        Number(database.pragma('page_count', { simple: true })) * Number(database.pragma('page_size', { simple: true }))
      )
    },
    put: ({ id, name, description, body }) => void insert.run(id, name, description, body),
    find: (q, limit) => {
      const words = q.match(/[\p{L}\p{N}]+/gu) ?? []
      return select.all(words.map((word) => `"${word}"`).join(' OR ') || '""', limit) as number[]
    },
  }
}
