import {
  RegistryError,
  endpoints,
  type Content,
  type Endpoint,
  type EndpointName,
  type RegistryApi,
} from '@skillstead/protocol'
import { toRegistryError } from './problem.ts'

export interface ClientOptions {
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
}

/**
 * The registry of a node as functions, over HTTP: the same as the in-process API. Throws RegistryError for what the
 * node refuses, `upstream_failed` where no node answers.
 *
 * @example
 * const api = createClient({ baseUrl: 'http://localhost:7545' })
 * const { skills } = await api.searchSkills({ q: 'pdf' })
 */
export function createClient(options: ClientOptions): RegistryApi {
  const base = toBase(options.baseUrl)
  const functions = (Object.keys(endpoints) as EndpointName[]).map((name) => [
    name,
    (input: Record<string, unknown> = {}) => call(base, options, endpoints[name], input),
  ])
  return Object.fromEntries(functions) as RegistryApi
}

/** The address of the API of a node, from the address of either. */
function toBase(baseUrl: string): string {
  const trimmed = baseUrl.replace(/\/+$/, '')
  return trimmed.endsWith('/api/v1') ? trimmed : `${trimmed}/api/v1`
}

async function call(
  base: string,
  options: ClientOptions,
  endpoint: Endpoint,
  input: Record<string, unknown>,
): Promise<unknown> {
  const { path, rest } = fillPath(endpoint, input)
  const headers: Record<string, string> = { accept: 'application/json' }
  if (options.apiKey) headers.authorization = `Bearer ${options.apiKey}`
  if (options.client) headers['x-skillstead-client'] = options.client
  if (options.agentToken) headers['x-agent-token'] = options.agentToken
  if (options.caseToken) headers['x-case-token'] = options.caseToken
  if (options.shareToken) headers['x-share-token'] = options.shareToken
  const { query, body, contentType } = toMessage(endpoint, rest)
  if (contentType) headers['content-type'] = contentType
  const response = await send(options, `${base}${path}${query}`, { method: endpoint.method, headers, body })
  if (!response.ok) throw await toRegistryError(response)
  if (response.status === 204) return undefined
  return endpoint.kind === 'content' ? readContent(response) : response.json()
}

/** Puts the path's parameters in their places; a slash inside a name stays part of it, one inside a file path divides. */
function fillPath(endpoint: Endpoint, input: Record<string, unknown>) {
  const rest = { ...input }
  const path = endpoint.path.replace(/(\*\*)?:(\w+)/g, (_, deep: string | undefined, key: string) => {
    const value = String(rest[key] ?? '')
    delete rest[key]
    refuseDots(deep ? value.split('/') : [value])
    return deep ? value.split('/').map(encodeURIComponent).join('/') : encodeURIComponent(value)
  })
  return { path, rest }
}

/** Addresses resolve these segments away, encoded or not, and another thing would be asked for. */
function refuseDots(segments: readonly string[]): void {
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..')) {
    throw new RegistryError('not_found', `There is nothing of the name '${segments.join('/')}'.`)
  }
}

function toMessage(endpoint: Endpoint, rest: Record<string, unknown>) {
  if (endpoint.method === 'GET') return { query: toQuery(rest) }
  const { archive, ...fields } = rest as { archive?: { contentType: string; body: Uint8Array<ArrayBuffer> } }
  if (endpoint.uploads && archive)
    return { query: toQuery(fields), body: archive.body, contentType: archive.contentType }
  if (Object.keys(rest).length === 0 && endpoint.method !== 'POST') return { query: '' }
  return { query: '', body: JSON.stringify(rest), contentType: 'application/json' }
}

function toQuery(fields: Record<string, unknown>): string {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined)
  if (given.length === 0) return ''
  return `?${new URLSearchParams(given.map(([key, value]) => [key, Array.isArray(value) ? value.join(',') : String(value)]))}`
}

async function send(options: ClientOptions, url: string, init: RequestInit): Promise<Response> {
  try {
    return await (options.fetch ?? fetch)(url, init)
  } catch (cause) {
    throw new RegistryError('upstream_failed', `No registry answers at ${new URL(url).origin}.`, { cause })
  }
}

async function readContent(response: Response): Promise<Content> {
  return {
    contentType: response.headers.get('content-type') ?? 'application/octet-stream',
    body: new Uint8Array(await response.arrayBuffer()),
    etag: response.headers.get('etag') ?? undefined,
  }
}
