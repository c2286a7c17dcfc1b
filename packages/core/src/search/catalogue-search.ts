import { setImmediate, setTimeout } from 'node:timers/promises'
import { isRegistryError } from '@skillstead/protocol'
import type { Change, ChangeFollower } from '../log/change-follower.ts'
import { countRows } from '../storage/count-rows.ts'
import type { Database } from '../storage/database.ts'
import { readKeysOf } from '../visibility/audience.ts'
import { createIndexHere, type IndexHost } from './index-host.ts'
import { IndexThread } from './index-thread.ts'
import type { SearchHits, SearchQuery } from './search-index.ts'
import { readDocumentCounts, readDocuments, readSearchPage } from './stored-documents.ts'
import { searchText, suggestText } from './database/text-catalogue.ts'

interface CatalogueSearchOptions {
  /**
   * Maximum skills for the index in memory. Larger catalogues are searched in the database; 0: always in the database.
   */
  readonly memorySkillsMax: number
  /** An index of at least this many skills has its own thread. */
  readonly threadSkillsMin: number
  onError(error: unknown): void
}

/** Rows that the warm-up reads at once. */
const warmUpRows = 64
/** Rows per batch of counter updates, which have only three columns. */
const counterRows = 256
/** Delay before warming up is retried after an error of the database. */
const warmUpRetryMs = 1000
/** Number of index threads that may end unexpectedly. After that, the index is in the thread of the registry. */
const threadsMax = 3

/**
 * Search over the catalogue: in memory after warming up; in the database before that and for large catalogues. An index
 * that is lost or outdated is rebuilt in the background.
 */
export class CatalogueSearch {
  readonly #database: Database
  readonly #options: CatalogueSearchOptions
  #index = createIndexHere()
  #state: 'warming' | 'in memory' | 'in the database' = 'warming'
  #warmed = Promise.resolve()
  #isMoving = false
  #threadsLeft = threadsMax
  #refused = 0
  readonly #stopping = new AbortController()
  /** Changes that arrived while an index is filled. The rows of the changed skills are read again at the end. */
  readonly #changedMeanwhile = new Map<string, Change>()

  constructor(database: Database, changes: ChangeFollower, options: CatalogueSearchOptions) {
    this.#database = database
    this.#options = options
    changes.follow(
      (batch) => this.#follow(batch),
      () => this.#rebuild(),
    )
    this.#rebuild()
  }

  /** Whether searches use the index in memory. */
  get warm(): boolean {
    return this.#state === 'in memory'
  }

  /** Whether searches use their intended index: in memory, or in the database for a large catalogue. */
  get ready(): boolean {
    return this.#state !== 'warming'
  }

  /** Resolves when warming up has ended; at once if the catalogue stays in the database. */
  get warmed(): Promise<void> {
    return this.#warmed
  }

  /** Number of skills in the index in memory. */
  get size(): number {
    return this.#index.size
  }

  /** Number of searches that were refused because too many waited. */
  get refused(): number {
    return this.#refused
  }

  /** Searches the index in memory, or `database`, such as a replica, while that index is not in use. */
  search(query: SearchQuery, database = this.#database): Promise<SearchHits> {
    return this.#ask(
      async () => this.#index.search({ ...query, viewer: await readKeysOf(database.read, query.viewer) }),
      () => searchText(database, query),
    )
  }

  suggest(q: string, limit: number, viewer: string | null, database = this.#database): Promise<string[]> {
    return this.#ask(
      async () => this.#index.suggest(q, limit, await readKeysOf(database.read, viewer)),
      () => suggestText(database, q, limit, viewer),
    )
  }

  stop(): void {
    this.#stopping.abort()
    this.#index.close()
  }

  /** Searches the index, or the database if the index is not ready or is lost during the search. */
  async #ask<T>(askIndex: () => Promise<T>, askDatabase: () => Promise<T>): Promise<T> {
    if (!this.warm) return askDatabase()
    try {
      return await askIndex()
    } catch (error) {
      if (isRegistryError(error, 'overloaded')) this.#refused++
      if (this.warm) throw error
      return askDatabase()
    }
  }

  async #follow(batch: readonly Change[]): Promise<void> {
    if (this.#state === 'warming' || this.#isMoving) {
      for (const change of batch)
        this.#changedMeanwhile.set(change.subject, mergeChanges(this.#changedMeanwhile.get(change.subject), change))
    }
    if (!this.warm) return
    await applyChanges(this.#database, this.#index, batch)
    this.#moveIfLarge()
  }

  /** Rebuilds the index in the background; searches use the database meanwhile. */
  #rebuild(): void {
    this.#state = 'warming'
    this.#warmed = this.#warmed.then(() => this.#fillWithRetry())
  }

  /** Retries without limit: a node whose search is not ready cannot serve. */
  async #fillWithRetry(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      this.#state = 'warming'
      this.#index.close()
      this.#index = createIndexHere()
      try {
        return await this.#fill()
      } catch (error) {
        if (!signal.aborted) this.#options.onError(error)
      }
      await setTimeout(warmUpRetryMs, undefined, { signal, ref: false }).catch(() => {})
    }
  }

  /** Moves an index that has become large to a thread; searches use the previous index meanwhile. */
  #moveIfLarge(): void {
    const isLarge = this.#index.size >= this.#options.threadSkillsMin
    if (this.#isMoving || this.#index.hasThread || this.#threadsLeft === 0 || !isLarge) return
    this.#isMoving = true
    this.#warmed = this.#warmed
      .then(() => this.#fill())
      .catch(this.#options.onError)
      .finally(() => (this.#isMoving = false))
  }

  /** Fills a new index and replaces the previous one. */
  async #fill(): Promise<void> {
    const { signal } = this.#stopping
    const skills = await countRows(this.#database.read.selectFrom('skills'))
    if (signal.aborted) return
    const { memorySkillsMax } = this.#options
    if (memorySkillsMax === 0 || skills > memorySkillsMax) {
      this.#state = 'in the database'
      this.#index = createIndexHere()
      this.#changedMeanwhile.clear()
      return
    }
    const filled = this.#createIndex(skills)
    try {
      await readAllDocuments(this.#database, filled, signal)
      // No await between the last update and the change of state, so that no change is missed.
      while (this.#changedMeanwhile.size > 0 && !signal.aborted) {
        const missed = [...this.#changedMeanwhile.values()]
        this.#changedMeanwhile.clear()
        await applyChanges(this.#database, filled, missed)
        await filled.flush()
      }
    } catch (error) {
      filled.close()
      throw error
    }
    if (signal.aborted) return filled.close()
    this.#index.close()
    this.#index = filled
    this.#state = 'in memory'
  }

  /**
   * Creates an index: in its own thread for at least `threadSkillsMin` skills, otherwise in this thread. Also uses this
   * thread if no thread can be started, for example in a bundled program without the worker's file.
   */
  #createIndex(skills: number): IndexHost {
    if (skills < this.#options.threadSkillsMin || this.#threadsLeft === 0) return createIndexHere()
    const { onError } = this.#options
    try {
      const started: IndexThread = new IndexThread({ onError, onLost: (error) => this.#lose(started, error) })
      return started
    } catch {
      this.#threadsLeft = 0
      return createIndexHere()
    }
  }

  #lose(lost: IndexHost, error: Error): void {
    this.#threadsLeft--
    // If the index was lost while it was filled, `#fill` throws, and its caller reports that error.
    if (this.#index !== lost || !this.warm) return
    this.#options.onError(error)
    this.#rebuild()
  }
}

async function readAllDocuments(database: Database, filled: IndexHost, signal: AbortSignal): Promise<void> {
  let after = 0
  for (;;) {
    const page = await readSearchPage(database, after, warmUpRows)
    if (page.length === 0 || signal.aborted) break
    await filled.put(page)
    // SQLite reads in this thread: without a pause, several pages together would block the event loop.
    await setImmediate()
    after = page.at(-1)!.id
  }
  await filled.flush()
}

async function applyChanges(database: Database, index: IndexHost, changes: readonly Change[]): Promise<void> {
  const skills = new Set(changes.filter(({ kind }) => kind === 'skill').map(({ subject }) => subject))
  const isCounted = ({ kind, subject }: Change) => kind === 'counters' && !skills.has(subject)
  const counted = new Set(changes.filter(isCounted).map(({ subject }) => subject))
  for (const ids of batchesOf(counted, counterRows)) {
    index.putCounts(await readDocumentCounts(database, ids))
  }
  for (const ids of batchesOf(skills, warmUpRows)) {
    const { documents, gone } = await readDocuments(database, ids)
    await index.put(documents)
    index.remove(gone)
  }
}

function* batchesOf(ids: ReadonlySet<string>, size: number): Generator<string[]> {
  const list = [...ids]
  for (let i = 0; i < list.length; i += size) yield list.slice(i, i + size)
}

function mergeChanges(earlier: Change | undefined, later: Change): Change {
  return earlier?.kind === 'skill' ? { ...later, kind: 'skill' } : later
}
