import { JsonLimitError, RegistryError, parseForeignJson, type ErrorCode } from '@skillstead/protocol'
import type { UpstreamFetch } from '../upstream-fetch.ts'

/** What is asked of an upstream that is no node: an address, and what is known of what it answers. */
export interface Question {
  readonly url: URL
  readonly bytesMax: number
  readonly accept?: string
  readonly apiKey?: string | undefined
  /** Of the answer that is here already. */
  readonly etag?: string | undefined
}

export interface Answer {
  readonly bytes: Uint8Array
  readonly contentType: string
  readonly etag: string | undefined
}

/** What statuses mean that are no answer; all others are `upstream_failed`. */
const codes: Readonly<Record<number, ErrorCode>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  410: 'not_found',
  429: 'rate_limited',
  451: 'taken_down',
  504: 'upstream_timeout',
}

/** Asks; undefined where nothing changed (304). Throws what the answer means where it is none, and what the fetch throws. */
export async function ask(http: UpstreamFetch, question: Question): Promise<Answer | undefined> {
  const { url, bytesMax, accept = '*/*', apiKey, etag } = question
  // An update check: what a mirror reads is no download of anybody.
  const headers: Record<string, string> = { accept, 'user-agent': 'skillstead-mirror', 'x-skills-update-check': '1' }
  if (apiKey) headers.authorization = `Bearer ${apiKey}`
  if (etag) headers['if-none-match'] = etag
  const response = await http.within(bytesMax)(url, { headers })
  if (response.status === 304 && etag) return undefined
  if (response.status !== 200) {
    const code = codes[response.status] ?? 'upstream_failed'
    throw new RegistryError(code, `${url.origin} answered ${response.status} for ${url.pathname}.`)
  }
  return {
    bytes: new Uint8Array(await response.arrayBuffer()),
    contentType: response.headers.get('content-type') ?? '',
    etag: response.headers.get('etag') ?? undefined,
  }
}

/** As {@link ask} for JSON; the value is not checked. Throws `upstream_failed` for what does not parse. */
export async function askJson(
  http: UpstreamFetch,
  question: Question,
): Promise<{ value: unknown; etag: string | undefined } | undefined> {
  const answer = await ask(http, { accept: 'application/json', ...question })
  if (!answer) return undefined
  const { origin, pathname } = question.url
  try {
    return { value: parseForeignJson(new TextDecoder().decode(answer.bytes)), etag: answer.etag }
  } catch (cause) {
    const what = answer.contentType.split(';')[0] || 'something without a type'
    if (cause instanceof JsonLimitError)
      throw new RegistryError(
        'upstream_failed',
        `${origin} answered ${pathname} with JSON that is not read: ${cause.message}`,
      )
    const detail = `${origin} answered ${pathname} with ${what} that is no JSON. Is the address right, and is this network signed in to?`
    throw new RegistryError('upstream_failed', detail, { cause })
  }
}

/** Whether an error says that one thing is not to be had, and nothing of the upstream as a whole. */
export function isAboutOne(error: unknown): error is RegistryError {
  return error instanceof RegistryError && ['not_found', 'taken_down', 'forbidden', 'unauthorized'].includes(error.code)
}

/** So many things in a row that fail are no longer the fault of each. */
const failuresMax = 3

/**
 * Tells what fails of one thing from an upstream that is away: a file that is too large, or that its server never gives,
 * must not keep all that comes after it from coming in.
 */
export class Failures {
  #inRow = 0

  /** The failure of one thing. Throws what is one of the upstream. */
  take(error: unknown): RegistryError {
    if (isAboutOne(error)) return this.#end(error)
    // What has a cause is the network's.
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
