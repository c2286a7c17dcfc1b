import type { RegistryApi, SearchResult } from '@skillstead/protocol'
import { loadLevels, projectLevel, toTool, type LoadLevel, type LoadedSkill } from '@skillstead/skill-format/loading'
import { RegistryError, toSearchName } from '@skillstead/protocol/wire'
import { createHttp, type HttpOptions } from './http.ts'
import { type CachedAnswer, copyJson } from './loading/answer-cache.ts'
import { checkFound, checkLoaded } from './loading/check-shape.ts'
import { keepAnswers, type Question } from './loading/keep-answers.ts'
import {
  loadEach,
  type LoadManyOptions,
  type LoadOptions,
  type SearchOptions,
  type WantedSkill,
} from './loading/load-each.ts'
import { loadLocally } from './loading/local-loads.ts'

/** Options of {@link createSkillClient}; docs/api.md#a-loaded-skill explains the most common options. */
export interface SkillClientOptions extends Partial<Pick<HttpOptions, 'apiKey' | 'baseUrl' | 'fetch' | 'client'>> {
  /**
   * Seconds for which a cached skill is returned without a request; 0: send a request each time. Default: 3600. Not
   * allowed with `api`.
   */
  readonly cacheTtl?: number
  /** Logs to the console every request, and every cached skill that is returned during an outage. Logs no keys. */
  readonly debug?: boolean
  /** Timeout of one attempt in milliseconds. Default: 10,000. */
  readonly timeoutMs?: number
  /**
   * A registry in this process to use instead of a node, created by `localApi` of `@skillstead/core`. Nothing is
   * cached: each call reads the registry, so every change takes effect on the next call. Only searches may miss changes
   * that another process made in the last second. While the registry is overloaded, and after it was closed, calls
   * reject.
   */
  readonly api?: RegistryApi
  /** Called when a cached answer is returned because the node is unavailable. Not allowed with `api`. */
  readonly onStale?: (name: string, error: RegistryError) => void
  /** Current time for the cache, in milliseconds since the epoch. Default: the system clock. Not allowed with `api`. */
  readonly now?: () => number
}

/** Loads skills into the context of an agent. */
export interface SkillClient {
  /**
   * Loads a skill. Throws RegistryError if the skill does not exist, or if the registry is unavailable and the skill is
   * not cached.
   */
  load(name: string, options?: LoadOptions): Promise<LoadedSkill>
  /**
   * Loads several skills; returns them in the order of `skills`. Throws the first error, unless `onError` handles it:
   * then that skill is left out.
   */
  loadMany(skills: readonly WantedSkill[], options?: LoadManyOptions): Promise<LoadedSkill[]>
  /** Searches skills. Sends a request each time; returns cached results only while the registry is unavailable. */
  search(q: string, options?: SearchOptions): Promise<SearchResult>
  /** Converts a loaded skill to a tool definition of a framework. */
  readonly toTool: typeof toTool
  /** Clears the cache, if the client has one. */
  clear(): void
}

const cacheTtlDefault = 3600
const timeoutMsDefault = 10_000

/**
 * A client that caches loaded skills: for `cacheTtl` without a request, and longer while the node is unavailable. A
 * skill that the node refuses (after a takedown, or with a revoked key) is removed from the cache at once. Concurrent
 * loads of one skill share a request. With `api`, a registry in this process, nothing is cached or shared: every change
 * takes effect on the next call. Throws a TypeError for invalid options, and for options of the cache with `api`.
 *
 * @example
 * const skills = createSkillClient({ baseUrl: 'http://localhost:7545' })
 * const { summary } = await skills.load('alice/pdf', { level: 'summary', maxTokens: 500 })
 */
export function createSkillClient(options: SkillClientOptions = {}): SkillClient {
  const { api, baseUrl, apiKey, fetch, cacheTtl, onStale, now } = options
  if (api && (baseUrl ?? apiKey ?? fetch) !== undefined) {
    throw new TypeError('Pass either `api` or the options of a node (`baseUrl`, `apiKey`, `fetch`), not both.')
  }
  if (api && (cacheTtl ?? onStale ?? now) !== undefined) {
    throw new TypeError('A client with `api` has no cache. Leave out `cacheTtl`, `onStale` and `now`.')
  }
  const { load, search, clear } = api ? loadLocally(api) : loadCached(options)
  return { load, loadMany: (skills, given) => loadEach(load, skills, given), search, toTool, clear }
}

/** Loads and searches skills of a node, and caches its responses. */
function loadCached(options: SkillClientOptions): Pick<SkillClient, 'load' | 'search' | 'clear'> {
  const { cacheTtl = cacheTtlDefault, now = Date.now } = options
  if (!(cacheTtl >= 0)) throw new TypeError('cacheTtl must be a number of seconds, 0 or more.')
  const call = createHttp(toHttpOptions(options))
  const kept = keepAnswers({ now, onStale: toStaleListener(options) })

  async function load(name: string, { signal, ...wanted }: LoadOptions = {}): Promise<LoadedSkill> {
    signal?.throwIfAborted()
    const { level = 'full', version } = wanted
    const key = toCacheKey(name, wanted, level)
    const higher = kept.find(key) ? undefined : findHigher(name, wanted, level)
    if (higher && kept.isFresh(higher)) return copyJson(higher.output as LoadedSkill)
    const question: Question = {
      key,
      subject: name,
      spare: higher,
      ttlMs: 1000 * cacheTtl,
      async ask(cached, shared) {
        const answer = await call('loadSkill', { name, ...wanted, level }, toLoadRequestOptions(cached, shared))
        if (!answer.isUnchanged) checkLoaded(answer.output, level, version)
        return answer
      },
    }
    return copyJson((await kept.get(question, signal)) as LoadedSkill)
  }

  /**
   * The requested level of a skill, cut from a cached higher level, which contains the lower levels. Undefined with a
   * token budget, which cuts each level differently.
   */
  function findHigher(name: string, wanted: LoadOptions, level: LoadLevel): CachedAnswer | undefined {
    if (wanted.maxTokens !== undefined || !loadLevels.includes(level)) return undefined
    const above = loadLevels.slice(loadLevels.indexOf(level) + 1)
    const cached = above.map((each) => kept.find(toCacheKey(name, wanted, each))).filter((each) => each !== undefined)
    const best = cached.find(kept.isFresh) ?? cached[0]
    return best && { ...best, etag: undefined, output: projectLevel(best.output as LoadedSkill, level) }
  }

  async function search(q: string, { signal, ...rest }: SearchOptions = {}): Promise<SearchResult> {
    const input = { ...rest, q }
    const question: Question = {
      key: JSON.stringify(['search', input]),
      subject: `search ${q}`,
      ttlMs: 0,
      async ask(cached, shared) {
        const answer = await call(toSearchName(input), input, toLoadRequestOptions(cached, shared))
        if (!answer.isUnchanged) checkFound(answer.output)
        return answer
      },
    }
    return copyJson((await kept.get(question, signal)) as SearchResult)
  }

  return { load, search, clear: kept.clear }
}

/** The options of a load request: no retries if a cached response can be returned instead. */
function toLoadRequestOptions(cached: CachedAnswer | undefined, signal: AbortSignal) {
  return { etag: cached?.etag, signal, ...(cached && { retries: 0 }) }
}

function toCacheKey(name: string, { version, maxTokens, priority }: LoadOptions, level: LoadLevel): string {
  if (maxTokens === undefined) return JSON.stringify([name, level, version])
  // Convert `maxTokens` to text, because JSON has `null` for NaN as well as for a missing value.
  return JSON.stringify([name, level, version, String(maxTokens), priority])
}

function toHttpOptions(options: SkillClientOptions): HttpOptions {
  const { baseUrl = toHome(), timeoutMs = timeoutMsDefault, apiKey, fetch, client, debug } = options
  return { baseUrl, timeoutMs, apiKey, fetch, client, debug }
}

/** The default URL: the node that served this page, or else the node on this machine. */
function toHome(): string {
  const origin = globalThis.location?.origin
  return origin?.startsWith('http') ? origin : 'http://127.0.0.1:7545'
}

function toStaleListener({ debug, onStale }: SkillClientOptions) {
  return (subject: string, error: RegistryError) => {
    if (debug) console.debug(`skillstead: ${subject} from the cache: ${error.message}`)
    onStale?.(subject, error)
  }
}
