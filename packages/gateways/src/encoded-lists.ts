import { hash } from 'node:crypto'
import type { Caller } from '@skillstead/core'
import { readKeysOf, type CatalogueContext, type DiscoveryScope } from '@skillstead/core/internal'
import { isRegistryError, type RegistryError } from '@skillstead/protocol'
import { LRUCache } from 'lru-cache'
import pLimit, { type LimitFunction } from 'p-limit'

/** The name and value of a response header. */
export type Header = [name: string, value: string]

/** A list, encoded as the body of a response. */
export interface EncodedList {
  readonly bytes: Uint8Array
  /** A strong entity tag, quotes included. */
  readonly etag: string
  readonly headers: readonly Header[]
  readonly hasSeveralSkills: boolean
}

/** A list before it is encoded, with the headers of its response. */
export interface ListParts {
  readonly value: unknown
  readonly headers?: readonly Header[]
  /** Default: false. */
  readonly hasSeveralSkills?: boolean
}

/** The kind of a list, and everything that the list depends on in addition to the catalogue and the caller. */
export type ListKey = readonly [kind: string, ...of: (string | null | DiscoveryScope)[]]

/**
 * Indexes and other lists of the gateways, each encoded once per state of the catalogue for all callers who may see the
 * same skills. Building a list costs thousands of times as much as sending it again, so without this cache a flood of
 * requests for lists would slow down all other callers.
 */
export interface EncodedLists {
  /**
   * The list as the caller may see it. If it is not cached, `charge` charges the caller, and `build` reads the list. An
   * error `not_found` is cached, too.
   */
  read(
    call: { readonly caller: Caller },
    key: ListKey,
    build: () => Promise<ListParts>,
    charge?: () => Promise<void>,
  ): Promise<EncodedList>
  /** The number of lists that were built since the start. */
  readonly built: number
  /** Stops updating the cache with changes of the catalogue. */
  stop(): void
}

const bytesMax = 32 * 1024 * 1024
const listBytesMax = 8 * 1024 * 1024
/**
 * Maximum size of the cached errors. It is not shared with lists, so that requests for unknown names evict no lists.
 */
const errorsBytesMax = 1024 * 1024
const errorBytesMax = 2048
/** Memory of an entry in addition to its bytes. */
const entryBytes = 512
/**
 * Number of lists of each kind that are built concurrently. Building more would not be faster, because lists are built
 * in batches between other work.
 */
const buildsAtATime = 4
/**
 * How long lists may be reused while only download counters change: the counters only decide which skills the list of a
 * large owner contains.
 */
const countersMs = 60_000

type Entry = EncodedList | RegistryError

/** Creates the cache of the lists of one node. Changes of the catalogue clear it, until `stop` is called. */
export function createEncodedLists({
  changes,
  clock,
  database,
}: Pick<CatalogueContext, 'changes' | 'clock' | 'database'>): EncodedLists {
  const cached = new LRUCache<string, EncodedList>({
    maxSize: bytesMax,
    maxEntrySize: listBytesMax,
    sizeCalculation: ({ bytes }, key) => entryBytes + key.length + bytes.byteLength,
  })
  const errors = new LRUCache<string, RegistryError>({
    maxSize: errorsBytesMax,
    maxEntrySize: errorBytesMax,
    sizeCalculation: (_, key) => entryBytes + key.length,
  })
  /** The lists that are being built: concurrent requests for a list share the work. */
  const pending = new Map<string, Promise<Entry>>()
  const turns = new Map<string, LimitFunction>()
  let built = 0
  let clearedAt = clock.now()

  function clear(): void {
    clearedAt = clock.now()
    cached.clear()
    errors.clear()
    // The result of a build that began before the change is neither cached nor used for later requests.
    pending.clear()
  }

  const stop = changes.follow((batch) => {
    const isListed = batch.some(({ kind }) => kind === 'skill' || kind === 'pack')
    if (isListed || clock.now() - clearedAt >= countersMs) clear()
  }, clear)

  function turnOf(kind: string): LimitFunction {
    const turn = turns.get(kind) ?? pLimit(buildsAtATime)
    turns.set(kind, turn)
    return turn
  }

  async function make(key: string, kind: string, build: () => Promise<ListParts>): Promise<Entry> {
    const work = turnOf(kind)(async () => {
      built += 1
      return encodeList(build)
    }).catch(toCachedError)
    pending.set(key, work)
    try {
      const entry = await work
      if (pending.get(key) !== work) return entry
      if (entry instanceof Error) errors.set(key, entry)
      else cached.set(key, entry)
      return entry
    } finally {
      if (pending.get(key) === work) pending.delete(key)
    }
  }

  const find = (key: string) => cached.get(key) ?? errors.get(key) ?? pending.get(key)

  return {
    async read(call, of, build, charge) {
      const key = JSON.stringify([...(await readCallerView(database, call.caller)), ...of])
      let found = find(key)
      if (!found && charge) {
        await charge()
        found = find(key)
      }
      const entry = await (found ?? make(key, of[0], build))
      if (entry instanceof Error) throw entry
      return entry
    },
    get built() {
      return built
    },
    stop,
  }
}

/**
 * The values in the cache key that stand for the caller: callers with the same values may see the same skills. Those
 * of a user include the organisations and teams, because joining and leaving these is no change of the catalogue.
 */
async function readCallerView({ read }: CatalogueContext['database'], caller: Caller): Promise<unknown[]> {
  const { userId, role } = caller.kind === 'user' ? caller : { userId: null, role: null }
  const keys = await readKeysOf(read, userId)
  return [keys && keys.toSorted(), role, caller.sharedSkillId ?? null]
}

/** Builds and encodes a list, without the cache. */
export async function encodeList(build: () => Promise<ListParts>): Promise<EncodedList> {
  const { value, headers = [], hasSeveralSkills = false } = await build()
  const bytes = Buffer.from(JSON.stringify(value))
  return { bytes, etag: `"${hash('sha1', bytes, 'base64url')}"`, headers, hasSeveralSkills }
}

function toCachedError(error: unknown): RegistryError {
  if (isRegistryError(error, 'not_found')) return error
  throw error
}
