import { RegistryError, parseWireLine, wire, type WireEndpoint } from '@skillstead/protocol/wire'
import type { EndpointName } from '@skillstead/protocol'
import { AbortError } from 'p-retry'
import { withDeadline } from './deadline.ts'
import { readAnswer, type Answer, type Expected } from './read-answer.ts'
import { followRedirects } from './redirects.ts'
import { withRetries } from './retries.ts'
import { toRequest, type WireRequest } from './to-request.ts'

/** How to reach a node, and as whom. */
export interface HttpOptions {
  /** Where the node is: its address, with or without `/api/v1`. */
  readonly baseUrl: string
  /** Needed for private skills and for everything that changes something. */
  readonly apiKey?: string
  /** Stands in for the global `fetch`. */
  readonly fetch?: typeof fetch
  /** Proves that the caller is a certain agent. */
  readonly agentToken?: string
  /** Proves that the caller is a party to a takedown case. */
  readonly caseToken?: string
  /** Lets the caller read the private skill that somebody shared. */
  readonly shareToken?: string
  /** How the calling program names itself; nodes tell it to the owners of what it downloads. */
  readonly client?: string
  /** False for update checks and the like: what is read counts as no download. */
  readonly counts?: false
  /** How long one try may take: half a minute unless it is said, five where files go over the wire. */
  readonly timeoutMs?: number
  /** How often a reading call is made again after an error that passes: twice unless it is said. What writes never is. */
  readonly retries?: number
  /** Ends every call of this client when it is aborted. */
  readonly signal?: AbortSignal
  /** Writes a line about every try to the console: method, path, status, milliseconds. No keys. */
  readonly debug?: boolean
}

/** What may differ from call to call. */
interface CallOptions extends Pick<HttpOptions, 'retries' | 'signal'> {
  /** Of an answer that the caller has; it comes again only where it changed. */
  readonly etag?: string
}

/** Calls the endpoints of one node. */
export type Call = (
  name: EndpointName,
  input: Readonly<Record<string, unknown>>,
  options?: CallOptions,
) => Promise<Answer>

interface Try {
  readonly url: string
  readonly init: RequestInit
  readonly expected: Expected
  readonly timeoutMs: number
}

const timeoutsMs = { json: 30_000, files: 300_000 }
const retriesDefault = 2

const timeoutMsMax = 2 ** 31 - 1

/** Throws a TypeError for an address that no node can have, and for numbers that cannot be meant. */
export function createHttp(options: HttpOptions): Call {
  refuseOddNumbers(options)
  const base = toBase(options.baseUrl)
  const headers = toHeaders(options)
  return async (name, input, { etag, signal = options.signal, retries = options.retries ?? retriesDefault } = {}) => {
    refuseOddSecrets(options)
    const endpoint = parseWireLine(wire[name])
    const request = toRequest(endpoint, input)
    const movesFiles = endpoint.isContent || request.body instanceof Uint8Array
    const once: Try = {
      url: base + request.path,
      init: { method: endpoint.method, body: request.body, headers: { ...headers, ...ownHeaders(request, etag) } },
      expected: { ...endpoint, digest: name === 'getBlob' ? String(input.digest) : undefined, maybeUnchanged: !!etag },
      timeoutMs: options.timeoutMs ?? timeoutsMs[movesFiles ? 'files' : 'json'],
    }
    return withRetries(() => attempt(once, options, signal), isRepeatable(endpoint) ? retries : 0, signal)
  }
}

/** Timers end at once where they are given anything else. */
function refuseOddNumbers({ timeoutMs = timeoutMsMax, retries = 0 }: HttpOptions): void {
  if (!(timeoutMs > 0 && timeoutMs <= timeoutMsMax)) {
    throw new TypeError(`timeoutMs is a number of milliseconds, above 0 and at most ${timeoutMsMax}.`)
  }
  if (!Number.isInteger(retries) || retries < 0) throw new TypeError('retries is a whole number, from 0.')
}

/** The address of the API of a node, from the address of either. */
function toBase(baseUrl: string): string {
  const page = globalThis.location?.href
  const url = URL.canParse(baseUrl, page) ? new URL(baseUrl, page) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) {
    throw new TypeError(
      'baseUrl is the address of a node, such as http://localhost:7545, without a name or a password.',
    )
  }
  const trimmed = (url.origin + url.pathname).replace(/\/+$/, '')
  return trimmed.endsWith('/api/v1') ? trimmed : `${trimmed}/api/v1`
}

function toHeaders(options: HttpOptions): Record<string, string> {
  const headers: Record<string, string> = { accept: 'application/json' }
  if (!/^[\x20-\x7e]*$/.test(options.client ?? '')) throw new TypeError('client is a name in plain ASCII.')
  if (options.apiKey) headers.authorization = `Bearer ${options.apiKey}`
  if (options.client) headers['x-skillstead-client'] = options.client
  if (options.agentToken) headers['x-agent-token'] = options.agentToken
  if (options.caseToken) headers['x-case-token'] = options.caseToken
  if (options.shareToken) headers['x-share-token'] = options.shareToken
  if (options.counts === false) headers['x-skills-update-check'] = '1'
  return headers
}

/** No header can carry them, and the error of fetch would print them. */
function refuseOddSecrets({ apiKey = '', agentToken = '', caseToken = '', shareToken = '' }: HttpOptions): void {
  if (/^[\x21-\x7e]*$/.test(apiKey + agentToken + caseToken + shareToken)) return
  const detail = 'The API key or the token holds characters that none has, such as a space or the end of a line.'
  throw new RegistryError('unauthorized', detail)
}

function ownHeaders({ contentType }: WireRequest, etag: string | undefined): Record<string, string> {
  return { ...(contentType && { 'content-type': contentType }), ...(etag && { 'if-none-match': etag }) }
}

/** What changes something may have done so although no answer came. */
function isRepeatable({ method }: WireEndpoint): boolean {
  return method === 'GET'
}

async function attempt({ url, init, expected, timeoutMs }: Try, options: HttpOptions, signal?: AbortSignal) {
  const { origin } = new URL(url)
  const startMs = performance.now()
  const writes = init.method !== 'GET'
  let status = 'no answer'
  const timeout = () => new RegistryError('upstream_timeout', `${origin} did not answer within ${timeoutMs / 1000} s.`)
  const work = async (ending: AbortSignal) => {
    const send = (address: string, redirect?: RequestRedirect) =>
      (options.fetch ?? fetch)(address, { ...init, signal: ending, redirect })
    const response = await reach(
      () => (writes || holdsSecret(options) ? followRedirects(send, url, { ...options, writes }) : send(url)),
      `No registry answers at ${origin}.`,
    )
    status = `${response.status}`
    return reach(() => readAnswer(response, expected), `The answer of ${origin} broke off.`)
  }
  try {
    return await withDeadline(work, timeoutMs, timeout, signal)
  } finally {
    const path = url.slice(origin.length)
    const ms = Math.round(performance.now() - startMs)
    if (options.debug) console.debug(`skillstead: ${init.method} ${path}: ${status}, ${ms} ms`)
  }
}

function holdsSecret({ apiKey, agentToken, caseToken, shareToken }: HttpOptions): boolean {
  return Boolean(apiKey || agentToken || caseToken || shareToken)
}

/** What the network does to a call, as an error of ours. */
async function reach<T>(work: () => Promise<T>, detail: string): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof RegistryError || cause instanceof AbortError) throw cause
    throw new RegistryError('upstream_failed', detail, { cause })
  }
}
