import { setTimeout } from 'node:timers/promises'
import type { Change, ChangeFollower } from '../log/change-follower.ts'
import { countRows } from '../storage/count-rows.ts'
import type { Database } from '../storage/database.ts'
import { isInList } from '../storage/list-query.ts'
import type { SkillRow } from '../storage/tables.ts'
import { createIndexHere, type IndexHost } from './index-host.ts'
import { createIndexThread } from './index-thread.ts'
import type { SearchDocument } from './search-document.ts'
import type { SearchHits, SearchQuery } from './search-index.ts'
import { searchText, suggestText } from './text-catalogue.ts'

/** Search over the catalogue: in memory after warming up; in the database before that and for large catalogues. */
export interface CatalogueSearch {
  search(query: SearchQuery): Promise<SearchHits>
  suggest(q: string, limit: number, viewer: string | null): Promise<string[]>
  /** Whether searches use the index in memory. */
  readonly warm: boolean
  /** Whether searches use their intended index. For a large catalogue that is the database. */
  readonly ready: boolean
  /** Resolves when warming up has ended; at once if the catalogue stays in the database. */
  readonly warmed: Promise<void>
  /** Number of skills in the index in memory. */
  readonly size: number
  stop(): void
}

interface CatalogueSearchOptions {
  /** Larger catalogues are only searched in the database; 0: always in the database. */
  readonly memorySkillsMax: number
  /** An index of at least this many skills has its own thread. */
  readonly threadSkillsMin: number
  onError(error: unknown): void
}

/** Rows that the warm-up reads at once. */
const batchRows = 64
/** Rows per batch of counter updates, which have only three columns. */
const counterRows = 256
/** Delay before warming up is retried after an error of the database. */
const retryMs = 1000

export function createCatalogueSearch(
  database: Database,
  changes: ChangeFollower,
  options: CatalogueSearchOptions,
): CatalogueSearch {
  let index = createIndexHere()
  let state: 'warming' | 'in memory' | 'in the database' = 'warming'
  let warmed = Promise.resolve()
  const stopping = new AbortController()
  /** Changes during warming up: their rows are read again at the end. */
  const changedMeanwhile = new Map<string, Change>()

  async function fill(): Promise<void> {
    state = 'warming'
    index.close()
    const skills = await countRows(database.read.selectFrom('skills'))
    if (stopping.signal.aborted) return
    if (options.memorySkillsMax === 0 || skills > options.memorySkillsMax) {
      index = createIndexHere()
      state = 'in the database'
      changedMeanwhile.clear()
      return
    }
    index = createIndex(skills)
    let after = 0
    for (;;) {
      const page = await readSearchPage(database, after, batchRows)
      if (page.length === 0 || stopping.signal.aborted) break
      await index.put(page)
      after = page.at(-1)!.id
    }
    await index.flush()
    // No await between the last update and the change of state, so that no change is missed.
    while (changedMeanwhile.size > 0 && !stopping.signal.aborted) {
      const missed = [...changedMeanwhile.values()]
      changedMeanwhile.clear()
      await applyChanges(database, index, missed)
      await index.flush()
    }
    if (!stopping.signal.aborted) state = 'in memory'
  }

  /** Retries without limit: a node whose search is not ready cannot serve. */
  async function fillWithRetry(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        return await fill()
      } catch (error) {
        if (!stopping.signal.aborted) options.onError(error)
      }
      await setTimeout(retryMs, undefined, { signal: stopping.signal, ref: false }).catch(() => {})
    }
  }

  const isInMemory = () => state === 'in memory'

  /** The index is here if there can be no thread, such as in a program without its file. */
  function createIndex(skills: number): IndexHost {
    if (skills < options.threadSkillsMin) return createIndexHere()
    try {
      return createIndexThread((error) => {
        // While the index is being filled, the next batch fails and the filling is retried.
        if (state !== 'in memory') return
        options.onError(error)
        rebuild()
      })
    } catch {
      return createIndexHere()
    }
  }

  /** Asks the index, or the database if the index is not ready or is lost meanwhile. */
  async function ask<T>(askIndex: () => Promise<T>, askDatabase: () => Promise<T>): Promise<T> {
    if (!isInMemory()) return askDatabase()
    try {
      return await askIndex()
    } catch (error) {
      if (isInMemory()) throw error
      return askDatabase()
    }
  }

  /** Rebuilds the index in the background; searches use the database meanwhile. */
  function rebuild(): void {
    state = 'warming'
    warmed = warmed.then(fillWithRetry)
  }

  changes.follow(async (batch) => {
    if (state === 'in the database') return
    if (state === 'in memory') return applyChanges(database, index, batch)
    for (const change of batch)
      changedMeanwhile.set(change.subject, merge(changedMeanwhile.get(change.subject), change))
  }, rebuild)
  rebuild()

  return {
    get warm() {
      return isInMemory()
    },
    get ready() {
      return state !== 'warming'
    },
    get size() {
      return index.size
    },
    get warmed() {
      return warmed
    },
    async search(query) {
      return ask(
        () => index.search(query),
        () => searchText(database, query),
      )
    },
    async suggest(q, limit, viewer) {
      return ask(
        () => index.suggest(q, limit, viewer),
        () => suggestText(database, q, limit, viewer),
      )
    },
    stop() {
      stopping.abort()
      index.close()
    },
  }
}

async function applyChanges(database: Database, index: IndexHost, changes: readonly Change[]): Promise<void> {
  const skills = new Set(changes.filter(({ kind }) => kind === 'skill').map(({ subject }) => subject))
  const isCounted = ({ kind, subject }: Change) => kind === 'counters' && !skills.has(subject)
  const counted = new Set(changes.filter(isCounted).map(({ subject }) => subject))
  for (const ids of batchesOf(counted, counterRows)) {
    for (const { id, ...counters } of await readCounters(database, ids)) index.putCounters(id, counters)
  }
  for (const ids of batchesOf(skills, batchRows)) {
    const { documents, gone } = await readDocuments(database, ids)
    await index.put(documents)
    for (const num of gone) index.remove(num)
  }
}

function* batchesOf(ids: ReadonlySet<string>, size: number): Generator<string[]> {
  const list = [...ids]
  for (let i = 0; i < list.length; i += size) yield list.slice(i, i + size)
}

function merge(earlier: Change | undefined, later: Change): Change {
  return earlier?.kind === 'skill' ? { ...later, kind: 'skill' } : later
}

const columns = [
  ...(['num', 'id', 'owner_id', 'owner', 'name', 'full_name', 'display_name', 'description', 'category'] as const),
  ...(['license', 'keywords', 'headings', 'summary', 'visibility', 'state', 'stub', 'deprecated'] as const),
  ...(['latest_version', 'published_at', 'downloads', 'stars', 'security_score', 'verified'] as const),
] as const

type Row = Pick<SkillRow, (typeof columns)[number]> & { terms: Uint8Array | null }

/** Selects skills with the terms of their latest versions. */
function selectSkills(database: Database) {
  return database.read
    .selectFrom('skills')
    .leftJoin('versions', (join) =>
      join.onRef('versions.skill_id', '=', 'skills.id').onRef('versions.version', '=', 'skills.latest_version'),
    )
    .leftJoin('version_terms', 'version_terms.version_id', 'versions.id')
    .select(columns.map((column) => `skills.${column}` as const))
    .select('version_terms.terms')
}

/** Reads the next listed skills by row number, as search documents: fewer than `limit` only at the end. */
async function readSearchPage(database: Database, after: number, limit: number): Promise<SearchDocument[]> {
  const rows = await selectSkills(database)
    .where('skills.num', '>', after)
    .where('skills.state', '=', 'live')
    .where((eb) => eb.or([eb('skills.latest_version', '!=', ''), eb('skills.stub', '=', 1)]))
    .orderBy('skills.num')
    .limit(limit)
    .execute()
  return toDocuments(database, rows)
}

/** Reads skills as search documents, and the numbers of those that are not listed. */
async function readDocuments(
  database: Database,
  ids: readonly string[],
): Promise<{ documents: SearchDocument[]; gone: number[] }> {
  const rows = await selectSkills(database)
    .where(isInList(database.dialect, 'skills.id', ids))
    .execute()
  const gone = rows.filter((row) => !isListed(row)).map(({ num }) => num)
  return { documents: await toDocuments(database, rows.filter(isListed)), gone }
}

/** Reads the counters of skills by their row numbers. */
function readCounters(
  database: Database,
  ids: readonly string[],
): Promise<{ id: number; downloads: number; stars: number }[]> {
  return database.read
    .selectFrom('skills')
    .select(['num as id', 'downloads', 'stars'])
    .where(isInList(database.dialect, 'id', ids))
    .execute()
}

/** Only live skills with a version that is not yanked, and stubs, are listed. */
function isListed(row: Row): boolean {
  return row.state === 'live' && (row.latest_version !== '' || row.stub === 1)
}

async function toDocuments(database: Database, rows: readonly Row[]): Promise<SearchDocument[]> {
  const restricted = rows.filter(({ visibility }) => visibility === 'private').map(({ id }) => id)
  const readers = await readReaders(database, restricted)
  return rows.map((row) => ({
    id: row.num,
    name: row.name,
    owner: row.owner,
    fullName: row.full_name,
    displayName: row.display_name,
    keywords: JSON.parse(row.keywords) as string[],
    description: row.description,
    headings: JSON.parse(row.headings) as string[],
    summary: row.summary,
    ...(row.terms && { content: row.terms }),
    category: row.category,
    license: row.license,
    visibility: row.visibility,
    readers: [row.owner_id, ...(readers.get(row.id) ?? [])],
    stub: row.stub === 1,
    verified: row.verified === 1,
    deprecated: row.deprecated === 1,
    securityScore: row.security_score,
    downloads: row.downloads,
    stars: row.stars,
    publishedAt: row.published_at,
  }))
}

async function readReaders(database: Database, skillIds: readonly string[]): Promise<Map<string, string[]>> {
  if (skillIds.length === 0) return new Map()
  const rows = await database.read
    .selectFrom('collaborators')
    .select(['skill_id', 'user_id'])
    .where(isInList(database.dialect, 'skill_id', skillIds))
    .execute()
  const readers = Map.groupBy(rows, ({ skill_id }) => skill_id)
  return new Map([...readers].map(([id, all]) => [id, all.map(({ user_id }) => user_id)]))
}
