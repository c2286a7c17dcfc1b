import { systemClock, type Clock } from '@skillstead/core'
import { VerificationError, parseVerifierKey } from '@skillstead/client/verify'
import { RegistryError, parseForeignJson } from '@skillstead/protocol'
import { guessKind, requireApiKey, requireThere, toLocation } from './settings.ts'
import type { UpstreamKind } from './types.ts'
import { createUpstreamFetch, type UpstreamFetch } from './upstream-fetch.ts'

/** What stands at a location, as far as it shows. */
export interface FoundUpstream {
  readonly kind: UpstreamKind
  /** The verifier keys that a node names itself, to be compared with what its operator publishes. */
  readonly keys: readonly string[]
  /** Why nobody could look; the kind is the likeliest then. */
  readonly problem?: string
}

export interface FindUpstreamOptions {
  /** Said by the operator; only the keys are looked for then. */
  readonly kind?: UpstreamKind
  readonly apiKey?: string
  /** Certificates to trust besides the system's, PEM. */
  readonly ca?: readonly string[]
  readonly fetch?: typeof fetch
  readonly clock?: Clock
}

const answerBytesMax = 16 * 1024 * 1024
/** Of a checkpoint, and of a list of keys. */
const noteBytesMax = 64 * 1024
const keysMax = 16

/** The answer to a path of an upstream where there is one; undefined for what is not there or not to be had. */
type Look = (
  path: string,
  bytesMax?: number,
) => Promise<{ readonly text: string; readonly contentType: string } | undefined>

const gitPath = '/info/refs?service=git-upload-pack'

/** What tells each kind from the others, the one that has most to give first. */
const probes: readonly (readonly [UpstreamKind, (look: Look) => Promise<boolean>])[] = [
  ['node', hasCheckpoint],
  ['registry', async (look) => holdsSkills(await look('/api/v1/skills?limit=1'))],
  ['discovery', hasIndex],
  ['git', hasRepository],
]

/**
 * Looks what stands at an address: a node, a registry that speaks only the specification, a discovery index or a git
 * repository; a path is known by what lies there. A place that cannot be reached is taken for a node, with the problem.
 * Throws `invalid_request` for what is no location, or one where nothing of this kind is.
 *
 * @example
 * const { kind, keys } = await findUpstream('https://skills.example.com')
 */
export async function findUpstream(location: string, options: FindUpstreamOptions = {}): Promise<FoundUpstream> {
  const guess = options.kind ?? guessKind(location)
  if (options.apiKey !== undefined) requireApiKey(options.apiKey)
  if (guess !== 'node') requireThere(guess, location)
  const isWeb = /^https?:\/\//i.test(location)
  if (guess !== 'node' && !isWeb) return { kind: guess, keys: [] }
  // Git takes a name and a password in the address, and `fetch` does not.
  const plain = guess === 'git' ? Object.assign(new URL(location), { username: '', password: '' }).href : location
  const base = toLocation(guess, plain).replace(/\/api\/v1$/, '')
  const { ca, fetch, clock = systemClock } = options
  // Somebody waits for it.
  const http = createUpstreamFetch({ mode: 'online', clock, ca, fetch, retries: 0, timeoutMs: 10_000, pauseMsMax: 0 })
  const looking = createLook(http, base, options.apiKey)
  try {
    // Of what is named by the operator any answer will do: it shows that the address is reachable.
    if (guess !== 'node') await looking.look(guess === 'git' ? gitPath : '')
    const kind = options.kind ?? (guess === 'node' ? await probe(looking.look) : guess)
    if (kind === undefined)
      throw refuse(base, looking.wantsKey && (options.apiKey === undefined ? 'a key' : 'another key'))
    return { kind, keys: kind === 'node' ? await readKeys(looking.look) : [] }
  } catch (error) {
    if (!(error instanceof RegistryError) || error.code === 'invalid_request') throw error
    return { kind: guess, keys: [], problem: error.message }
  } finally {
    await http.close()
  }
}

function createLook(http: UpstreamFetch, base: string, apiKey: string | undefined) {
  const headers: Record<string, string> = { 'user-agent': 'skillstead-mirror' }
  if (apiKey !== undefined) headers.authorization = `Bearer ${apiKey}`
  const looking = {
    wantsKey: false,
    async look(path: string, bytesMax = answerBytesMax) {
      const response = await http.within(bytesMax)(base + path, { headers })
      const { status } = response
      if (status >= 500 || status === 429) throw new RegistryError('upstream_failed', `${base} answers ${status}.`)
      if (status === 401) looking.wantsKey = true
      if (!response.ok) return undefined
      return { text: await response.text(), contentType: response.headers.get('content-type') ?? '' }
    },
  }
  return looking
}

async function probe(look: Look): Promise<UpstreamKind | undefined> {
  for (const [kind, isThere] of probes) {
    if (await isThere(look)) return kind
  }
  return undefined
}

/** Whether it signs a log; a page of something else at that address has another form. */
async function hasCheckpoint(look: Look): Promise<boolean> {
  const answer = await look('/api/v1/checkpoint', noteBytesMax)
  return answer !== undefined && /^[^\n<]+\n\d+\n[A-Za-z0-9+/=]+\n(?:[^\n]+\n)*\n\u2014 /.test(answer.text)
}

async function hasIndex(look: Look): Promise<boolean> {
  for (const folder of ['agent-skills', 'skills']) {
    if (holdsSkills(await look(`/.well-known/${folder}/index.json`))) return true
  }
  return false
}

/** As `git clone` asks over HTTP. */
async function hasRepository(look: Look): Promise<boolean> {
  const answer = await look(gitPath)
  return answer?.contentType === 'application/x-git-upload-pack-advertisement'
}

async function readKeys(look: Look): Promise<string[]> {
  const lines = (await look('/api/v1/key', noteBytesMax))?.text.split('\n') ?? []
  return lines.filter(isKey).slice(0, keysMax)
}

function holdsSkills(answer: { text: string } | undefined): boolean {
  if (answer === undefined) return false
  try {
    const value = parseForeignJson(answer.text)
    return typeof value === 'object' && value !== null && 'skills' in value && Array.isArray(value.skills)
  } catch {
    return false
  }
}

function isKey(line: string): boolean {
  try {
    parseVerifierKey(line)
    return true
  } catch (error) {
    if (error instanceof VerificationError) return false
    throw error
  }
}

function refuse(base: string, wanted: 'a key' | 'another key' | false): RegistryError {
  const what = 'no node, no registry, no discovery index and no git repository'
  const advice = wanted ? `It wants ${wanted}: --api-key KEY.` : 'Is the address right? --kind says what it is.'
  return new RegistryError('invalid_request', `Nothing at ${base} is known here: ${what}. ${advice}`)
}
