import { RegistryError, parseWireLine, wire } from '@skillstead/protocol/wire'
import type { EndpointName } from '@skillstead/protocol'
import { AbortError } from 'p-retry'
import { withDeadline } from './deadline.ts'
import { readAnswer, type Answer, type Expected } from './read-answer.ts'
import { followRedirects } from './redirects.ts'
import { withRetries } from './retries.ts'
import { toRequest, type WireRequest } from './to-request.ts'

/** The URL of a node, the caller's credentials, and how requests are sent. */
export interface HttpOptions {
  /** The URL of the node, with or without `/api/v1`. */
  readonly baseUrl: string
  /** API key; required for private skills and for all changes. */
  readonly apiKey?: string
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch
  /** Token that identifies the calling agent. */
  readonly agentToken?: string
  /** Token of a party to a takedown case. */
  readonly caseToken?: string
  /** Token that gives access to a shared private skill. */
  readonly shareToken?: string
  /** Name of the calling program; nodes report it to the owners of downloaded skills. */
  readonly client?: string
  /** False: reads, such as update checks, do not count as downloads. */
  readonly counts?: false
  /** True: the packages that this client reads are installed, so that nodes count an install instead of a download. */
  readonly installs?: boolean
  /** Timeout of one attempt in milliseconds. Default: 30,000; 300,000 for calls that transfer files. */
  readonly timeoutMs?: number
  /** Number of retries of a read after a temporary error. Writes are never retried. Default: 2. */
  readonly retries?: number
  /** Aborts every call of this client. */
  readonly signal?: AbortSignal
  /** Logs every attempt to the console: method, path, status, milliseconds. Logs no keys. */
  readonly debug?: boolean
}

/** Options of a single call. */
interface CallOptions extends Pick<HttpOptions, 'retries' | 'signal'> {
  /** The ETag of a cached response: the node sends the response again only if it changed. */
  readonly etag?: string
}

/** Calls an endpoint of a node by its name. */
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

/** Creates the function that calls the endpoints of a node. Throws a TypeError for an invalid URL or number. */
export function createHttp(options: HttpOptions): Call {
  refuseOddNumbers(options)
  const base = toBase(options.baseUrl)
  // Remove the white space that files and environment variables leave around a secret.
  const secrets = {
    apiKey: options.apiKey?.trim(),
    agentToken: options.agentToken?.trim(),
    caseToken: options.caseToken?.trim(),
    shareToken: options.shareToken?.trim(),
  }
  const headers = toCallerHeaders({ ...options, ...secrets })
  return async (name, input, { etag, signal: own, retries = options.retries ?? retriesDefault } = {}) => {
    const signal = own && options.signal ? AbortSignal.any([own, options.signal]) : (own ?? options.signal)
    refuseOddSecrets(secrets)
    const endpoint = parseWireLine(wire[name])
    const request = toRequest(endpoint, input)
    const movesFiles = endpoint.isContent || request.body instanceof Uint8Array
    const once: Try = {
      url: base + request.path,
      init: {
        method: endpoint.method,
        body: request.body,
        headers: { ...headers, ...toRequestHeaders(request, etag) },
      },
      expected: { ...endpoint, digest: name === 'getBlob' ? String(input.digest) : undefined, maybeUnchanged: !!etag },
      timeoutMs: options.timeoutMs ?? timeoutsMs[movesFiles ? 'files' : 'json'],
    }
    // Writes are not repeated: the first attempt may have been executed although no response arrived.
    return withRetries(() => attemptRequest(once, options, signal), endpoint.reads ? retries : 0, signal)
  }
}

/** Throws a TypeError for invalid retries, and for an invalid timeout, with which timers would fire at once. */
function refuseOddNumbers({ timeoutMs = timeoutMsMax, retries = 0 }: HttpOptions): void {
  if (!(timeoutMs > 0 && timeoutMs <= timeoutMsMax)) {
    throw new TypeError(`timeoutMs must be a number of milliseconds, above 0 and at most ${timeoutMsMax}.`)
  }
  if (!Number.isInteger(retries) || retries < 0) throw new TypeError('retries must be a whole number, 0 or more.')
}

/** Converts the URL of a node, or of its API, to the base URL of the API. */
function toBase(baseUrl: string): string {
  const page = globalThis.location?.href
  const url = URL.canParse(baseUrl, page) ? new URL(baseUrl, page) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) {
    throw new TypeError(
      'baseUrl must be the URL of a node, such as http://localhost:7545, without a username or password.',
    )
  }
  const trimmed = (url.origin + url.pathname).replace(/\/+$/, '')
  return trimmed.endsWith('/api/v1') ? trimmed : `${trimmed}/api/v1`
}

function toCallerHeaders(options: HttpOptions): Record<string, string> {
  const headers: Record<string, string> = { accept: 'application/json' }
  if (!/^[\x20-\x7e]*$/.test(options.client ?? '')) throw new TypeError('client must be a name in plain ASCII.')
  if (options.apiKey) headers.authorization = `Bearer ${options.apiKey}`
  if (options.client) headers['x-skillstead-client'] = options.client
  if (options.agentToken) headers['x-agent-token'] = options.agentToken
  if (options.caseToken) headers['x-case-token'] = options.caseToken
  if (options.shareToken) headers['x-share-token'] = options.shareToken
  if (options.counts === false) headers['x-skills-update-check'] = '1'
  if (options.installs) headers['x-skillstead-install'] = '1'
  return headers
}

type Secrets = Pick<HttpOptions, 'apiKey' | 'agentToken' | 'caseToken' | 'shareToken'>

/**
 * Throws `unauthorized` for a secret with characters that headers cannot contain: the error of `fetch` would print the
 * secret.
 */
function refuseOddSecrets({ apiKey = '', agentToken = '', caseToken = '', shareToken = '' }: Secrets): void {
  if (/^[\x21-\x7e]*$/.test(apiKey + agentToken + caseToken + shareToken)) return
  const detail = 'The API key or token contains invalid characters, such as a space or a line break.'
  throw new RegistryError('unauthorized', detail)
}

function toRequestHeaders({ contentType }: WireRequest, etag: string | undefined): Record<string, string> {
  return { ...(contentType && { 'content-type': contentType }), ...(etag && { 'if-none-match': etag }) }
}

async function attemptRequest({ url, init, expected, timeoutMs }: Try, options: HttpOptions, signal?: AbortSignal) {
  const { origin } = new URL(url)
  const startMs = performance.now()
  const writes = init.method !== 'GET'
  let status = 'no response'
  const timeout = () => new RegistryError('upstream_timeout', `${origin} did not respond within ${timeoutMs / 1000} s.`)
  const work = async (ending: AbortSignal) => {
    const send = (address: string, redirect?: RequestRedirect) =>
      (options.fetch ?? fetch)(address, { ...init, signal: ending, redirect })
    const response = await withNetworkErrors(
      () => (writes || holdsSecret(options) ? followRedirects(send, url, { ...options, writes }) : send(url)),
      `No registry responds at ${origin}.`,
    )
    status = `${response.status}`
    return withNetworkErrors(() => readAnswer(response, expected), `The response of ${origin} was cut off.`)
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

/** Converts network errors to the RegistryError `upstream_failed`. */
async function withNetworkErrors<T>(work: () => Promise<T>, detail: string): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof RegistryError || cause instanceof AbortError) throw cause
    throw new RegistryError('upstream_failed', detail, { cause })
  }
}
