import { JsonLimitError, RegistryError, parseForeignJson, type ErrorCode } from '@skillstead/protocol'
import type { UpstreamFetch } from '../upstream-fetch.ts'

/** A GET request to an upstream that is not a Skillstead node. */
export interface Question {
  readonly url: URL
  readonly bytesMax: number
  readonly accept?: string
  readonly apiKey?: string | undefined
  /** The ETag of the response that is already stored. */
  readonly etag?: string | undefined
}

export interface Answer {
  readonly bytes: Uint8Array
  readonly contentType: string
  readonly etag: string | undefined
}

/** The error codes of HTTP statuses. All other statuses except 200 and 304 throw `upstream_failed`. */
const codes: Readonly<Record<number, ErrorCode>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  410: 'not_found',
  429: 'rate_limited',
  451: 'taken_down',
  504: 'upstream_timeout',
}

/**
 * Sends the request. Undefined if the resource did not change (304). Throws an error for other statuses, and the errors
 * of `fetch`.
 */
export async function fetchAnswer(http: UpstreamFetch, question: Question): Promise<Answer | undefined> {
  const { url, bytesMax, accept = '*/*', apiKey, etag } = question
  // The request is marked as an update check, so that the upstream does not count a download.
  const headers: Record<string, string> = { accept, 'user-agent': 'skillstead-mirror', 'x-skills-update-check': '1' }
  if (apiKey) headers.authorization = `Bearer ${apiKey}`
  if (etag) headers['if-none-match'] = etag
  const response = await http.within(bytesMax)(url, { headers })
  if (response.status === 304 && etag) return undefined
  if (response.status !== 200) {
    const code = codes[response.status] ?? 'upstream_failed'
    throw new RegistryError(code, `${url.origin} responded to ${url.pathname} with status ${response.status}.`)
  }
  return {
    bytes: new Uint8Array(await response.arrayBuffer()),
    contentType: response.headers.get('content-type') ?? '',
    etag: response.headers.get('etag') ?? undefined,
  }
}

/** Like {@link fetchAnswer}, for JSON. The value is not validated. Throws `upstream_failed` for invalid JSON. */
export async function fetchJson(
  http: UpstreamFetch,
  question: Question,
): Promise<{ value: unknown; etag: string | undefined } | undefined> {
  const answer = await fetchAnswer(http, { accept: 'application/json', ...question })
  if (!answer) return undefined
  const { origin, pathname } = question.url
  try {
    return { value: parseForeignJson(new TextDecoder().decode(answer.bytes)), etag: answer.etag }
  } catch (cause) {
    const what = answer.contentType.split(';')[0] || 'content without a type'
    if (cause instanceof JsonLimitError)
      throw new RegistryError(
        'upstream_failed',
        `${origin} responded to ${pathname} with JSON that exceeds a limit: ${cause.message}`,
      )
    const detail = `${origin} responded to ${pathname} with ${what} that is not JSON. Check the URL, and whether this network requires a login.`
    throw new RegistryError('upstream_failed', detail, { cause })
  }
}

/** Throws `invalid_request` unless a location is an http or https URL without credentials (`fetch` rejects these). */
export function parseWebUrl(location: string): URL {
  const url = URL.parse(location)
  if (url && /^https?:$/.test(url.protocol) && !url.username && !url.password) return url
  const detail = `${location} is not an http or https URL without a username and password.`
  throw new RegistryError('invalid_request', detail)
}

/** Whether an error concerns only the requested resource, not the whole upstream. */
export function isAboutOne(error: unknown): error is RegistryError {
  return error instanceof RegistryError && ['not_found', 'taken_down', 'forbidden', 'unauthorized'].includes(error.code)
}

/** Number of consecutive failures after which the whole upstream counts as failed. */
const failuresMax = 3

/**
 * Distinguishes the failure of one skill from the failure of the upstream: a file that is too large, or that the server
 * never returns, must not block the skills after it.
 */
export class Failures {
  #inRow = 0

  /** Returns an error that concerns one skill. Throws an error that concerns the whole upstream. */
  take(error: unknown): RegistryError {
    if (isAboutOne(error)) return this.#end(error)
    // An error of the upstream without a cause is about its response; an error with a cause is a network error.
    const isAnswer = error instanceof RegistryError && error.cause === undefined && error.code.startsWith('upstream_')
    this.#inRow += 1
    if (!isAnswer || this.#inRow >= failuresMax) throw error
    return error
  }

  succeed(): void {
    this.#inRow = 0
  }

  #end(error: RegistryError): RegistryError {
    this.#inRow = 0
    return error
  }
}
