import { setImmediate, setTimeout } from 'node:timers/promises'
import { RegistryError } from '@skillstead/protocol'
import type { Change, ChangeFollower } from '../log/change-follower.ts'
import { countRows } from '../storage/count-rows.ts'
import type { Database } from '../storage/database.ts'
import { createIndexHere, type IndexHost } from './index-host.ts'
import { createIndexThread } from './index-thread.ts'
import type { SearchHits, SearchQuery } from './search-index.ts'
import { readCounts, readDocuments, readSearchPage } from './stored-documents.ts'
import { searchText, suggestText } from './database/text-catalogue.ts'

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
  /** Number of searches that were refused because too many waited. */
  readonly refused: number
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
/** After this many threads that ended by themselves, the index is in the thread of the registry. */
const threadsMax = 3

export function createCatalogueSearch(
  database: Database,
  changes: ChangeFollower,
  options: CatalogueSearchOptions,
): CatalogueSearch {
  let index = createIndexHere()
  let state: 'warming' | 'in memory' | 'in the database' = 'warming'
  let warmed = Promise.resolve()
  let isMoving = false
  let threadsLeft = threadsMax
  let refused = 0
  const stopping = new AbortController()
  const isInMemory = () => state === 'in memory'
  /** Changes while an index is filled: their rows are read again at the end. */
  const changedMeanwhile = new Map<string, Change>()

  /** Fills a new index and replaces the previous one. */
  async function fill(): Promise<void> {
    const skills = await countRows(database.read.selectFrom('skills'))
    if (stopping.signal.aborted) return
    if (options.memorySkillsMax === 0 || skills > options.memorySkillsMax) {
      state = 'in the database'
      index = createIndexHere()
      changedMeanwhile.clear()
      return
    }
    const filled = createIndex(skills)
    try {
      await readAll(filled)
      // No await between the last update and the change of state, so that no change is missed.
      while (changedMeanwhile.size > 0 && !stopping.signal.aborted) {
        const missed = [...changedMeanwhile.values()]
        changedMeanwhile.clear()
        await applyChanges(database, filled, missed)
        await filled.flush()
      }
    } catch (error) {
      filled.close()
      throw error
    }
    if (stopping.signal.aborted) return filled.close()
    index.close()
    index = filled
    state = 'in memory'
  }

  async function readAll(filled: IndexHost): Promise<void> {
    let after = 0
    for (;;) {
      const page = await readSearchPage(database, after, batchRows)
      if (page.length === 0 || stopping.signal.aborted) break
      await filled.put(page)
      // SQLite reads in this thread: without a pause the event loop would wait for several pages.
      await setImmediate()
      after = page.at(-1)!.id
    }
    await filled.flush()
  }

  /** Retries without limit: a node whose search is not ready cannot serve. */
  async function fillWithRetry(): Promise<void> {
    while (!stopping.signal.aborted) {
      state = 'warming'
      index.close()
      index = createIndexHere()
      try {
        return await fill()
      } catch (error) {
        if (!stopping.signal.aborted) options.onError(error)
      }
      await setTimeout(retryMs, undefined, { signal: stopping.signal, ref: false }).catch(() => {})
    }
  }

  /** The index is here if there can be no thread, such as in a program without its file. */
  function createIndex(skills: number): IndexHost {
    if (skills < options.threadSkillsMin || threadsLeft === 0) return createIndexHere()
    let started: IndexHost | undefined
    const onLost = (error: Error) => {
      threadsLeft--
      // Filling an index that is lost fails by itself.
      if (index !== started || !isInMemory()) return
      options.onError(error)
      rebuild()
    }
    try {
      started = createIndexThread({ onLost, onError: options.onError })
      return started
    } catch {
      threadsLeft = 0
      return createIndexHere()
    }
  }

  /** Moves an index that has become large to a thread; searches use the previous one meanwhile. */
  function moveIfLarge(): void {
    if (isMoving || index.hasThread || threadsLeft === 0 || index.size < options.threadSkillsMin) return
    isMoving = true
    warmed = warmed
      .then(fill)
      .catch(options.onError)
      .finally(() => (isMoving = false))
  }

  /** Asks the index, or the database if the index is not ready or is lost meanwhile. */
  async function ask<T>(askIndex: () => Promise<T>, askDatabase: () => Promise<T>): Promise<T> {
    if (!isInMemory()) return askDatabase()
    try {
      return await askIndex()
    } catch (error) {
      if (error instanceof RegistryError && error.code === 'overloaded') refused++
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
    if (state === 'warming' || isMoving) {
      for (const change of batch)
        changedMeanwhile.set(change.subject, merge(changedMeanwhile.get(change.subject), change))
    }
    if (!isInMemory()) return
    await applyChanges(database, index, batch)
    moveIfLarge()
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
    get refused() {
      return refused
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
    index.putCounts(await readCounts(database, ids))
  }
  for (const ids of batchesOf(skills, batchRows)) {
    const { documents, gone } = await readDocuments(database, ids)
    await index.put(documents)
    index.remove(gone)
  }
}

function* batchesOf(ids: ReadonlySet<string>, size: number): Generator<string[]> {
  const list = [...ids]
  for (let i = 0; i < list.length; i += size) yield list.slice(i, i + size)
}

function merge(earlier: Change | undefined, later: Change): Change {
  return earlier?.kind === 'skill' ? { ...later, kind: 'skill' } : later
}
