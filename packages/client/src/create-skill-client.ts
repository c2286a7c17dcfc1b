import type { Input, RegistryApi, SearchResult, endpoints } from '@skillstead/protocol'
import { loadLevels, projectLevel, toTool, type LoadLevel, type LoadedSkill } from '@skillstead/skill-format/loading'
import { RegistryError } from '@skillstead/protocol/wire'
import { createHttp, type HttpOptions } from './http.ts'
import type { CachedAnswer } from './loading/answer-cache.ts'
import { checkFound, checkLoaded } from './loading/check-shape.ts'
import { copyJson } from './loading/copy-json.ts'
import { keepAnswers, type Question } from './loading/keep-answers.ts'
import { loadEach, type LoadManyOptions, type WantedSkill } from './loading/load-each.ts'
import type { LoadOptions } from './loading/load-options.ts'
import { toSource } from './loading/source.ts'

/** Specification 2.4, and what programs need besides. */
export interface SkillClientOptions extends Partial<Pick<HttpOptions, 'apiKey' | 'baseUrl' | 'fetch' | 'client'>> {
  /** Seconds for which a skill is given from memory without asking; 3600 unless it is said, 0 to ask each time. */
  readonly cacheTtl?: number
  /** Writes a line about every request, and every skill given though no node answers, to the console. No keys. */
  readonly debug?: boolean
  /** How long one try may take: 10,000 unless it is said. */
  readonly timeoutMs?: number
  /** A registry to ask instead of a node: one in this process, by `localApi` of `@skillstead/core`. */
  readonly api?: RegistryApi
  /** Hears of what is given from memory because the registry could not be asked. */
  readonly onStale?: (name: string, error: RegistryError) => void
  /** Milliseconds since the epoch; the time of the machine unless it is said. */
  readonly now?: () => number
}

export interface SearchOptions extends Omit<Input<(typeof endpoints)['searchSkills']>, 'q'> {
  /** Ends the wait. */
  readonly signal?: AbortSignal
}

/** Loads skills into the context of an agent. */
export interface SkillClient {
  /** A skill. Throws RegistryError where there is none, or nobody to ask and nothing in memory. */
  load(name: string, options?: LoadOptions): Promise<LoadedSkill>
  /** Several, in their order. Throws what the first that fails throws, unless `onError` takes it: then it is left out. */
  loadMany(skills: readonly WantedSkill[], options?: LoadManyOptions): Promise<LoadedSkill[]>
  /** Asks each time; what was found before is given only while no registry answers. */
  search(q: string, options?: SearchOptions): Promise<SearchResult>
  /** A loaded skill in the form that a framework takes tools in. */
  readonly toTool: typeof toTool
  /** Forgets everything in memory. */
  clear(): void
}

const cacheTtlDefault = 3600
const timeoutMsDefault = 10_000

/**
 * A client that keeps what it loaded: for `cacheTtl` without asking, and longer while the node is away. What the node
 * refuses to give (a takedown, a key that ended) is forgotten at once. Many loads of one skill at one time are one
 * request. Throws a TypeError for options that cannot be meant.
 *
 * @example
 * const skills = createSkillClient({ baseUrl: 'http://localhost:7545' })
 * const { summary } = await skills.load('alice/pdf', { level: 'summary', maxTokens: 500 })
 */
export function createSkillClient(options: SkillClientOptions = {}): SkillClient {
  const { cacheTtl = cacheTtlDefault, now = Date.now } = options
  if (options.api && (options.baseUrl ?? options.apiKey ?? options.fetch) !== undefined) {
    throw new TypeError('Give `api`, or what reaches a node (`baseUrl`, `apiKey`, `fetch`), not both.')
  }
  if (!(cacheTtl >= 0)) throw new TypeError('cacheTtl is a number of seconds, from 0.')
  const ask = toSource(options.api, () => createHttp(toHttpOptions(options)))
  const kept = keepAnswers({ now, onStale: toListener(options) })

  async function load(name: string, { signal, ...wanted }: LoadOptions = {}): Promise<LoadedSkill> {
    signal?.throwIfAborted()
    const { level = 'full', version } = wanted
    const key = toKey(name, wanted, level)
    const higher = kept.find(key) ? undefined : findHigher(name, wanted, level)
    if (higher && kept.isFresh(higher)) return copyJson(higher.output as LoadedSkill)
    const question: Question = {
      key,
      subject: name,
      spare: higher,
      ttlMs: 1000 * cacheTtl,
      async ask(held, shared) {
        const answer = await ask('loadSkill', { name, ...wanted, level }, held, shared)
        if (!answer.isUnchanged) checkLoaded(answer.output, level, version)
        return answer
      },
    }
    return copyJson((await kept.get(question, signal)) as LoadedSkill)
  }

  /** A lower level of what is in memory; a budget cuts each level in another way. */
  function findHigher(name: string, wanted: LoadOptions, level: LoadLevel): CachedAnswer | undefined {
    if (wanted.maxTokens !== undefined || !loadLevels.includes(level)) return undefined
    const above = loadLevels.slice(loadLevels.indexOf(level) + 1)
    const held = above.map((each) => kept.find(toKey(name, wanted, each))).filter((each) => each !== undefined)
    const best = held.find(kept.isFresh) ?? held[0]
    return best && { ...best, etag: undefined, output: projectLevel(best.output as LoadedSkill, level) }
  }

  async function search(q: string, { signal, ...rest }: SearchOptions = {}): Promise<SearchResult> {
    const input = { ...rest, q }
    const question: Question = {
      key: JSON.stringify(['search', input]),
      subject: `search ${q}`,
      ttlMs: 0,
      async ask(held, shared) {
        const answer = await ask('searchSkills', input, held, shared)
        if (!answer.isUnchanged) checkFound(answer.output)
        return answer
      },
    }
    return copyJson((await kept.get(question, signal)) as SearchResult)
  }

  return { load, loadMany: (skills, given) => loadEach(load, skills, given), search, toTool, clear: kept.clear }
}

function toKey(name: string, { version, maxTokens, priority }: LoadOptions, level: LoadLevel): string {
  if (maxTokens === undefined) return JSON.stringify([name, level, version])
  // As text, since JSON has null for what is no number, as for what is absent.
  return JSON.stringify([name, level, version, String(maxTokens), priority])
}

function toHttpOptions(options: SkillClientOptions): HttpOptions {
  const { baseUrl = toHome(), timeoutMs = timeoutMsDefault, apiKey, fetch, client, debug } = options
  return { baseUrl, timeoutMs, apiKey, fetch, client, debug }
}

/** The node that a page came from, or the one of this machine. */
function toHome(): string {
  const origin = globalThis.location?.origin
  return origin?.startsWith('http') ? origin : 'http://127.0.0.1:7545'
}

function toListener({ debug, onStale }: SkillClientOptions) {
  return (subject: string, error: RegistryError) => {
    if (debug) console.debug(`skillstead: ${subject} from memory: ${error.message}`)
    onStale?.(subject, error)
  }
}
