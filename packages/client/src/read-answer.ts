import type { Content } from '@skillstead/protocol'
import { JsonLimitError, RegistryError, parseForeignJson } from '@skillstead/protocol/wire'
import { toResponseError } from './problem.ts'
import { forGood } from './retries.ts'

/** The response of a node to a successful call. */
export interface Answer {
  /** Undefined for an empty response (204), and for an unchanged one (304). */
  readonly output: unknown
  readonly etag: string | undefined
  /** Whether the caller's cached copy is current (304). */
  readonly isUnchanged: boolean
}

/** The kind of response that a request expects. */
export interface Expected {
  /** Whether the response is bytes instead of JSON. */
  readonly isContent: boolean
  /** The digest that the bytes must have. Default: the digest in the ETag, if any. */
  readonly digest?: string
  /** Whether the request had an ETag, so that 304 is possible. */
  readonly maybeUnchanged?: boolean
}

/** Statuses that networks and proxies use for their own pages, such as a sign-in page. */
const pageStatuses: ReadonlySet<number> = new Set([401, 403, 404])

/** Maximum size of a response: far more than any node sends, packages included. */
const bytesMaxDefault = 256 * 1024 * 1024
/** Maximum size of an error response. */
const problemBytesMax = 1024 * 1024

/**
 * Reads a response. Throws the RegistryError that it contains, and `upstream_failed` for a response that no node sends.
 */
export async function readAnswer(response: Response, expected: Expected): Promise<Answer> {
  const etag = response.headers.get('etag') ?? undefined
  if (response.status === 304 && expected.maybeUnchanged) return { output: undefined, etag, isUnchanged: true }
  if (pageStatuses.has(response.status) && isNetworkPage(response)) throw notANode(response, 'text/html')
  if (!response.ok)
    throw toResponseError(response, new TextDecoder().decode(await readResponseBytes(response, problemBytesMax)))
  if (response.status === 204) return { output: undefined, etag, isUnchanged: false }
  const output = expected.isContent
    ? await readResponseContent(response, etag, expected.digest)
    : await readResponseJson(response)
  return { output, etag, isUnchanged: false }
}

async function readResponseJson(response: Response): Promise<unknown> {
  const contentType = response.headers.get('content-type') ?? 'an unnamed type'
  if (!/^application\/(?:json|[\w.+-]+\+json)\b/i.test(contentType)) throw notANode(response, contentType)
  const bytes = await readResponseBytes(response)
  try {
    return parseForeignJson(new TextDecoder().decode(bytes))
  } catch (cause) {
    if (cause instanceof JsonLimitError)
      throw toInvalidAnswer(response, `sent JSON that exceeds a limit: ${cause.message}`, cause)
    throw toInvalidAnswer(response, 'sent invalid JSON; the response may have been cut off', cause)
  }
}

async function readResponseContent(response: Response, etag: string | undefined, asked?: string): Promise<Content> {
  const contentType = response.headers.get('content-type') ?? 'application/octet-stream'
  if (isNetworkPage(response)) throw notANode(response, contentType)
  const body = await readResponseBytes(response)
  const digest = asked ?? etag?.match(/^"(sha256:[0-9a-f]{64})"$/)?.[1]
  // Without WebCrypto, which pages loaded over plain HTTP lack, the digest is not checked.
  if (digest && globalThis.crypto?.subtle !== undefined && (await digestBytes(body)) !== digest) {
    throw toInvalidAnswer(
      response,
      `sent bytes whose digest is not ${digest}; they were changed in transit or by the server`,
    )
  }
  return { contentType, body, etag }
}

/** Every response of a node has a request id; the sign-in page of a network has none. */
function isNetworkPage({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('text/html') === true && !headers.has('x-request-id')
}

async function digestBytes(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return `sha256:${Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

async function readResponseBytes(response: Response, bytesMax = bytesMaxDefault): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let length = 0
  const reader = response.body?.getReader()
  for (let next = await reader?.read(); next?.value; next = await reader?.read()) {
    length += next.value.length
    if (length > bytesMax) {
      reader?.releaseLock()
      throw toInvalidAnswer(response, 'sent more data than a registry sends')
    }
    chunks.push(next.value)
  }
  return joinChunks(chunks, length)
}

function joinChunks(chunks: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}

function notANode(response: Response, contentType: string): Error {
  return toInvalidAnswer(
    response,
    `returned ${contentType.split(';')[0]} where a registry returns JSON. Check the URL, and whether this network requires a sign-in.`,
  )
}

function toInvalidAnswer(response: Response, what: string, cause?: unknown): Error {
  // Cancel the body; otherwise the connection would stay open for the rest of the response.
  response.body?.cancel().catch(() => undefined)
  const who = response.url ? new URL(response.url).origin : 'The server'
  return forGood(new RegistryError('upstream_failed', `${who} ${what}${/[.?]$/.test(what) ? '' : '.'}`, { cause }))
}
