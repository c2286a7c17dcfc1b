import tls from 'node:tls'
import { RegistryError } from '@skillstead/protocol'

/** What is asked, and how much may come. */
export interface Order {
  readonly url: URL
  readonly init: RequestInit
  readonly bytesMax: number
  readonly signal: AbortSignal | undefined
}

/** For the whole of one answer: else one that drips is never over. */
const answerMsMax = 10 * 60_000
const headerBytesMax = 16 * 1024
const connectionsMax = 8

/** What codes of sockets say, the first that fits. */
const meanings: readonly (readonly [RegExp, string])[] = [
  [/^(ENOTFOUND|ENODATA|EAI_)/, 'cannot be found: no name server knows it'],
  [/^ECONNREFUSED$/, 'refuses the connection; is it running?'],
  [/CERT|SELF_SIGNED|UNABLE_TO/, 'shows a certificate that is not trusted; --ca FILE adds one to trust'],
  [/^(ERR_SSL|ERR_TLS|EPROTO)/, 'does not speak TLS that is understood'],
  [/TIMEOUT|^ETIMEDOUT$/, 'does not answer'],
  [/(?:)/, 'cannot be reached, or broke off its answer'],
]

interface Connection {
  (): Promise<typeof fetch>
  close(): Promise<void>
}

/** The fetch below, made when the first request goes out: what is offline loads nothing. */
export function createConnection(given: typeof fetch | undefined, ca: readonly string[] = []): Connection {
  let made: Promise<{ send: typeof fetch; close: () => Promise<void> }> | undefined
  const connect = async () => {
    if (given) return given
    made ??= openAgent(ca)
    return (await made).send
  }
  return Object.assign(connect, { close: async () => (await made)?.close() })
}

async function openAgent(ca: readonly string[]) {
  const { Agent, fetch: send } = await import('undici')
  const dispatcher = new Agent({
    allowH2: false,
    connections: connectionsMax,
    maxHeaderSize: headerBytesMax,
    // Each request has deadlines of its own.
    headersTimeout: 0,
    bodyTimeout: 0,
    ...(ca.length > 0 && { connect: { ca: [...(tls.getCACertificates?.('default') ?? tls.rootCertificates), ...ca] } }),
  })
  const viaAgent = (input: unknown, init: unknown) => send(input as string, { ...(init as object), dispatcher })
  return { send: viaAgent as unknown as typeof fetch, close: () => dispatcher.destroy() }
}

/** One request and its whole answer, within the bounds. */
export async function readWhole(
  send: typeof fetch,
  { url, init, bytesMax, signal }: Order,
  timeoutMs: number,
): Promise<{ answer: Response; length: number }> {
  const ending = new AbortController()
  const timeout = new RegistryError('upstream_timeout', `${url.origin} did not answer in time.`, { cause: 'deadline' })
  const expire = () => ending.abort(timeout)
  const end = () => ending.abort(signal?.reason)
  const whole = setTimeout(expire, answerMsMax)
  let next = setTimeout(expire, timeoutMs)
  signal?.throwIfAborted()
  signal?.addEventListener('abort', end, { once: true })
  try {
    const response = await send(url, { ...init, signal: ending.signal })
    const chunks: Uint8Array[] = []
    let length = 0
    for await (const chunk of response.body ?? []) {
      clearTimeout(next)
      next = setTimeout(expire, timeoutMs)
      length += chunk.length
      if (length > bytesMax) throw fail(`${url.origin} sends more than the ${bytesMax} bytes that one answer may have.`)
      chunks.push(chunk)
    }
    return { answer: toAnswer(response, chunks, url), length }
  } catch (error) {
    if (ending.signal.aborted) throw ending.signal.reason
    throw error instanceof RegistryError ? error : toUpstreamFailed(url, error)
  } finally {
    clearTimeout(whole)
    clearTimeout(next)
    signal?.removeEventListener('abort', end)
    // Closes the connection of what was not read to the end.
    ending.abort()
  }
}

function toAnswer(response: Response, chunks: readonly Uint8Array[], url: URL): Response {
  const body = chunks.length > 0 ? Buffer.concat(chunks) : null
  const { status, statusText } = response
  const headers = new Headers([...response.headers])
  const answer = new Response(body, { status, statusText, headers })
  // Whoever reads it names the server in its errors.
  return Object.defineProperty(answer, 'url', { value: url.href })
}

function toUpstreamFailed(url: URL, error: unknown): RegistryError {
  const { cause } = error as { cause?: { code?: unknown } }
  const code = String(cause?.code ?? (error as { code?: unknown }).code)
  const meaning = meanings.find(([pattern]) => pattern.test(code))![1]
  return new RegistryError('upstream_failed', `${url.origin} ${meaning}.`.replace('?.', '?'), { cause: error })
}

/** An `upstream_failed` that another try does not change. */
export function fail(detail: string): RegistryError {
  return new RegistryError('upstream_failed', detail)
}
