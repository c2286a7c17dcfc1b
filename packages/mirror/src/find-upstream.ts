import { systemClock, type Clock, type OutgoingOptions } from '@skillstead/core'
import { VerificationError, parseVerifierKey } from '@skillstead/client/verify'
import { RegistryError, attempt, readFields } from '@skillstead/protocol'
import { guessKind, requireApiKey, requireThere, toUpstreamLocation } from './settings.ts'
import type { UpstreamKind } from './types.ts'
import { UpstreamFetch, type Replacements } from './upstream-fetch.ts'

/** What was detected at the location of an upstream. */
export interface FoundUpstream {
  readonly kind: UpstreamKind
  /** The verifier keys that the node publishes. The operator should compare them with keys published elsewhere. */
  readonly keys: readonly string[]
  /** Why the upstream was not reached; `kind` is then only a guess. */
  readonly problem?: string
}

/** Options of `findUpstream`. */
export interface FindUpstreamOptions {
  /** The kind, if the operator stated it: the kind is then not detected. */
  readonly kind?: UpstreamKind
  readonly apiKey?: string
  /** Trusted certificates in addition to those of the system, PEM. */
  readonly ca?: readonly string[]
  readonly proxy?: OutgoingOptions['proxy']
}

/** The options with the clock of a registry, and with the replacements that tests pass. */
export interface FindUpstreamParts extends FindUpstreamOptions, Replacements {
  readonly clock?: Clock
}

const answerBytesMax = 16 * 1024 * 1024
/** Maximum size of a checkpoint or a list of keys. */
const noteBytesMax = 64 * 1024
const keysMax = 16

/** Requests a path of the upstream. Returns undefined if the response has an error status. */
type Look = (
  path: string,
  bytesMax?: number,
) => Promise<{ readonly text: string; readonly contentType: string } | undefined>

const gitPath = '/info/refs?service=git-upload-pack'

/** The check for each kind of upstream that is detected over HTTP. The kind with the most features comes first. */
const probes: readonly (readonly [UpstreamKind, (look: Look) => Promise<boolean>])[] = [
  ['node', hasCheckpoint],
  ['registry', async (look) => holdsSkills(await look('/api/v1/skills?limit=1'))],
  ['discovery', hasIndex],
  ['git', hasRepository],
]

/**
 * Detects the kind of upstream at a URL: a node, a registry that has only the base API, a discovery index or a git
 * repository. The kind of a path is read from the disk. An unreachable server counts as a node, unless its URL has the
 * form of another kind, and `problem` is set. Throws `invalid_request` for an invalid location, or if the server is no
 * upstream of any kind.
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
  // Git accepts a username and password in a URL, and `fetch` does not.
  const plain = guess === 'git' ? Object.assign(new URL(location), { username: '', password: '' }).href : location
  const base = toUpstreamLocation(guess, plain).replace(/\/api\/v1$/, '')
  const { ca, proxy, fetch, clock = systemClock }: FindUpstreamParts = options
  // There are no retries and no long pauses, because a caller waits.
  const http = new UpstreamFetch({
    mode: 'online',
    clock,
    ca,
    proxy,
    fetch,
    retries: 0,
    timeoutMs: 10_000,
    pauseMsMax: 0,
  })
  const looking = createLook(http, base, options.apiKey)
  try {
    // If the kind is already known, any response suffices: it shows that the server is reachable.
    if (guess !== 'node') await looking.look(guess === 'git' ? gitPath : '')
    const kind = options.kind ?? (guess === 'node' ? await probeKinds(looking.look) : guess)
    if (kind === undefined)
      throw toKeyError(base, looking.wantsKey && (options.apiKey === undefined ? 'an API key' : 'another API key'))
    return { kind, keys: kind === 'node' ? await requestPublishedKeys(looking.look) : [] }
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
      if (status >= 500 || status === 429)
        throw new RegistryError('upstream_failed', `${base} responds with status ${status}.`)
      if (status === 401) looking.wantsKey = true
      if (!response.ok) return undefined
      return { text: await response.text(), contentType: response.headers.get('content-type') ?? '' }
    },
  }
  return looking
}

async function probeKinds(look: Look): Promise<UpstreamKind | undefined> {
  for (const [kind, isThere] of probes) {
    if (await isThere(look)) return kind
  }
  return undefined
}

/** Whether the server returns a signed checkpoint. A web page at the same URL has another form. */
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

/** Whether the server has a git repository. Sends the same request as `git clone` over HTTP. */
async function hasRepository(look: Look): Promise<boolean> {
  const answer = await look(gitPath)
  return answer?.contentType === 'application/x-git-upload-pack-advertisement'
}

async function requestPublishedKeys(look: Look): Promise<string[]> {
  const lines = (await look('/api/v1/key', noteBytesMax))?.text.split('\n') ?? []
  return lines.filter((line) => attempt(() => parseVerifierKey(line), VerificationError)).slice(0, keysMax)
}

function holdsSkills(answer: { text: string } | undefined): boolean {
  return answer !== undefined && Array.isArray(readFields(answer.text).skills)
}

function toKeyError(base: string, wanted: 'an API key' | 'another API key' | false): RegistryError {
  const what = 'Skillstead node, registry, discovery index or git repository'
  const advice = wanted ? `The server requires ${wanted}: pass --api-key KEY.` : 'Check the URL, or pass --kind.'
  return new RegistryError('invalid_request', `There is no ${what} at ${base}. ${advice}`)
}
