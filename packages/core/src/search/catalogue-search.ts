import { setImmediate, setTimeout } from 'node:timers/promises'
import type { Change, ChangeFollower } from '../log/change-follower.ts'
import type { Database } from '../storage/database.ts'
import { readCounters, readDocuments, readSearchPage } from './read-documents.ts'
import { createSearchIndex, type SearchHits, type SearchIndex, type SearchQuery } from './search-index.ts'
import { searchText, suggestText } from './text-catalogue.ts'

/** Search over the catalogue: in memory once that has warmed, and by the database's own index before and beyond. */
export interface CatalogueSearch {
  search(query: SearchQuery): Promise<SearchHits>
  suggest(q: string, limit: number, viewer: string | null): Promise<string[]>
  /** Whether the index in memory answers. */
  readonly warm: boolean
  /** Whether searches are answered from where they are meant to be: a large catalogue stays in the database. */
  readonly ready: boolean
  /** Resolves when warming has ended; at once where the catalogue stays in the database. */
  readonly warmed: Promise<void>
  /** How many skills the index in memory holds. */
  readonly size: number
  stop(): void
}

export interface CatalogueSearchOptions {
  /** Larger catalogues are searched in the database alone; 0 keeps every catalogue there. */
  readonly memorySkillsMax: number
  onError(error: unknown): void
}

/** How long a slice of warming may hold the event loop, and how many rows are read for it. */
const sliceMs = 10
const sliceRows = 64
/** Of counters alone, which are three columns. */
const counterRows = 256
/** How soon warming begins again that the database did not see through. */
const retryMs = 1000

export function createCatalogueSearch(
  database: Database,
  changes: ChangeFollower,
  options: CatalogueSearchOptions,
): CatalogueSearch {
  let index = createSearchIndex()
  let state: 'warming' | 'in memory' | 'in the database' = 'warming'
  let warmed = Promise.resolve()
  const stopping = new AbortController()
  /** What changed while warming: those rows are read again at the end. */
  const changedMeanwhile = new Map<string, Change>()

  async function fill(): Promise<void> {
    state = 'warming'
    index = createSearchIndex()
    if (await isTooLarge()) {
      state = 'in the database'
      changedMeanwhile.clear()
      return
    }
    let after = 0
    for (;;) {
      const page = await readSearchPage(database, after, sliceRows)
      if (page.length === 0 || stopping.signal.aborted) break
      await putInSlices(index, page)
      after = page.at(-1)!.id
    }
    // Synchronous between the last application and the state, so that no change falls between.
    while (changedMeanwhile.size > 0 && !stopping.signal.aborted) {
      const missed = [...changedMeanwhile.values()]
      changedMeanwhile.clear()
      await applyChanges(database, index, missed)
    }
    if (!stopping.signal.aborted) state = 'in memory'
  }

  /** However often it takes: a node whose search is not ready is of no use. */
  async function fillAtLast(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        return await fill()
      } catch (error) {
        options.onError(error)
      }
      await setTimeout(retryMs, undefined, { signal: stopping.signal, ref: false }).catch(() => {})
    }
  }

  async function isTooLarge(): Promise<boolean> {
    return options.memorySkillsMax === 0 || (await countSkills(database)) > options.memorySkillsMax
  }

  /** Nobody waits for it: whoever searches meanwhile does so in the database. */
  function startAnew(): void {
    state = 'warming'
    warmed = warmed.then(fillAtLast)
  }

  changes.follow(async (batch) => {
    if (state === 'in the database') return
    if (state === 'in memory') return applyChanges(database, index, batch)
    for (const change of batch)
      changedMeanwhile.set(change.subject, merge(changedMeanwhile.get(change.subject), change))
  }, startAnew)
  startAnew()

  return {
    get warm() {
      return state === 'in memory'
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
      return state === 'in memory' ? index.search(query) : searchText(database, query)
    },
    async suggest(q, limit, viewer) {
      return state === 'in memory' ? index.suggest(q, limit, viewer) : suggestText(database, q, limit, viewer)
    },
    stop() {
      stopping.abort()
    },
  }
}

async function putInSlices(index: SearchIndex, documents: Parameters<SearchIndex['put']>[0][]): Promise<void> {
  let startedMs = performance.now()
  for (const document of documents) {
    index.put(document)
    if (performance.now() - startedMs < sliceMs) continue
    await setImmediate()
    startedMs = performance.now()
  }
  await setImmediate()
}

async function applyChanges(database: Database, index: SearchIndex, changes: readonly Change[]): Promise<void> {
  const skills = new Set(changes.filter(({ kind }) => kind === 'skill').map(({ subject }) => subject))
  const isCounted = ({ kind, subject }: Change) => kind === 'counters' && !skills.has(subject)
  const counted = new Set(changes.filter(isCounted).map(({ subject }) => subject))
  for (const ids of slicesOf(counted, counterRows)) {
    for (const { id, ...counters } of await readCounters(database, ids)) index.putCounters(id, counters)
  }
  for (const ids of slicesOf(skills, sliceRows)) {
    const { documents, gone } = await readDocuments(database, ids)
    for (const document of documents) index.put(document)
    for (const num of gone) index.remove(num)
  }
}

function* slicesOf(ids: ReadonlySet<string>, size: number): Generator<string[]> {
  const list = [...ids]
  for (let i = 0; i < list.length; i += size) yield list.slice(i, i + size)
}

function merge(earlier: Change | undefined, later: Change): Change {
  return earlier?.kind === 'skill' ? { ...later, kind: 'skill' } : later
}

async function countSkills(database: Database): Promise<number> {
  const { count } = await database.read
    .selectFrom('skills')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}
