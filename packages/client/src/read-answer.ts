import type { Content } from '@skillstead/protocol'
import { JsonLimitError, RegistryError, parseForeignJson } from '@skillstead/protocol/wire'
import { toRegistryError } from './problem.ts'
import { forGood } from './retries.ts'

/** What a node answered to a call that went well. */
export interface Answer {
  /** Undefined where the node has nothing to say (204), or nothing new (304). */
  readonly output: unknown
  readonly etag: string | undefined
  /** The caller has the entity of this ETag already (304). */
  readonly isUnchanged: boolean
}

/** What is expected of an answer. */
export interface Expected {
  /** Bytes, not JSON. */
  readonly isContent: boolean
  /** The digest that the bytes were asked for by. */
  readonly digest?: string
  /** The request carried an ETag, so that there may be nothing new. */
  readonly maybeUnchanged?: boolean
}

/** What networks and proxies say with a page of their own: it tells nothing of what was asked for. */
const pageStatuses: ReadonlySet<number> = new Set([401, 403, 404])

/** Far above what any node sends in one answer, packages included. */
const bytesMaxDefault = 256 * 1024 * 1024
/** Of the answer to a request that failed. */
const problemBytesMax = 1024 * 1024

/** Reads what a server answered. Throws the RegistryError that it tells of, `upstream_failed` for what no node says. */
export async function readAnswer(response: Response, expected: Expected): Promise<Answer> {
  const etag = response.headers.get('etag') ?? undefined
  if (response.status === 304 && expected.maybeUnchanged) return { output: undefined, etag, isUnchanged: true }
  if (pageStatuses.has(response.status) && isPage(response)) throw notANode(response, 'text/html')
  if (!response.ok)
    throw toRegistryError(response, new TextDecoder().decode(await readBytes(response, problemBytesMax)))
  if (response.status === 204) return { output: undefined, etag, isUnchanged: false }
  const output = expected.isContent ? await readContent(response, etag, expected.digest) : await readJson(response)
  return { output, etag, isUnchanged: false }
}

async function readJson(response: Response): Promise<unknown> {
  const contentType = response.headers.get('content-type') ?? 'nothing that it names'
  if (!/^application\/(?:json|[\w.+-]+\+json)\b/i.test(contentType)) throw notANode(response, contentType)
  const bytes = await readBytes(response)
  try {
    return parseForeignJson(new TextDecoder().decode(bytes))
  } catch (cause) {
    if (cause instanceof JsonLimitError) throw wrong(response, `sent JSON that is not read: ${cause.message}`, cause)
    throw wrong(response, 'sent JSON that does not parse; it may have been cut off on the way', cause)
  }
}

async function readContent(response: Response, etag: string | undefined, asked?: string): Promise<Content> {
  const contentType = response.headers.get('content-type') ?? 'application/octet-stream'
  if (isPage(response)) throw notANode(response, contentType)
  const body = await readBytes(response)
  const digest = asked ?? etag?.match(/^"(sha256:[0-9a-f]{64})"$/)?.[1]
  if (digest && canDigest() && (await toDigest(body)) !== digest) {
    throw wrong(response, `sent bytes whose digest is not ${digest}; they were changed on the way, or by the server`)
  }
  return { contentType, body, etag }
}

/** Every answer of a node has a request's id; the sign-in page of a network has none. */
function isPage({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('text/html') === true && !headers.has('x-request-id')
}

/** Pages that came by plain HTTP have no WebCrypto. */
function canDigest(): boolean {
  return globalThis.crypto?.subtle !== undefined
}

async function toDigest(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return `sha256:${Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

async function readBytes(response: Response, bytesMax = bytesMaxDefault): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let length = 0
  const reader = response.body?.getReader()
  for (let next = await reader?.read(); next?.value; next = await reader?.read()) {
    length += next.value.length
    if (length > bytesMax) {
      reader?.releaseLock()
      throw wrong(response, 'sends more than any registry does')
    }
    chunks.push(next.value)
  }
  return join(chunks, length)
}

function join(chunks: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}

function notANode(response: Response, contentType: string): Error {
  return wrong(
    response,
    `answered with ${contentType.split(';')[0]} where a registry answers with JSON. Is the address right, and is this network signed in to?`,
  )
}

function wrong(response: Response, what: string, cause?: unknown): Error {
  // Else the connection stays open for the rest of it.
  response.body?.cancel().catch(() => undefined)
  const who = response.url ? new URL(response.url).origin : 'The server'
  return forGood(new RegistryError('upstream_failed', `${who} ${what}${/[.?]$/.test(what) ? '' : '.'}`, { cause }))
}
