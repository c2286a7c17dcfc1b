import { RegistryError } from '@skillstead/protocol'
import type { Dispatcher } from 'undici'
import { createConnector, type Guard } from './connector.ts'
import { fail } from './request-failures.ts'
import type { OutgoingResponse } from './outgoing.ts'

interface Request {
  readonly url: URL
  readonly bytesMax: number
  readonly signal: AbortSignal
  readonly guard: Guard
}

/** A response, or the target of its redirect. */
export type Answer = OutgoingResponse | { readonly redirect: string }

/** Status codes that redirect the client. */
export const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
/** Limit on the size of the response headers. */
export const headerBytesMax = 16 * 1024

/** Sends one GET on a connection of its own. */
export async function requestOnce(request: Request): Promise<Answer> {
  const { url, bytesMax, signal, guard } = request
  const { Client } = await import('undici')
  const { connect, abort } = createConnector(guard)
  const client = new Client(url.origin, { connect, allowH2: false, maxHeaderSize: headerBytesMax })
  try {
    const headers = { 'user-agent': 'skillstead', accept: '*/*', 'accept-encoding': 'identity' }
    const answer = await client.request({
      method: 'GET',
      path: url.pathname + url.search,
      headers,
      signal,
      reset: true,
    })
    // An error of the unread rest of the body does not matter; without a listener it would end the process.
    answer.body.on('error', () => {})
    if (redirectStatuses.has(answer.statusCode)) return { redirect: getHeader(answer, 'location') }
    return {
      status: answer.statusCode,
      url: url.href,
      contentType: getHeader(answer, 'content-type'),
      bytes: await readBody(answer, bytesMax),
    }
  } finally {
    abort()
    await client.destroy()
  }
}

async function readBody(answer: Dispatcher.ResponseData, bytesMax: number): Promise<Uint8Array> {
  // Compressed bodies are refused: a small one can expand to an enormous size, and the request did not accept any.
  const encoding = getHeader(answer, 'content-encoding').toLowerCase()
  if (encoding !== '' && encoding !== 'identity') throw fail('sends its answer compressed, which was not asked for')
  if (Number(getHeader(answer, 'content-length')) > bytesMax) throw refuseSize(bytesMax)
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
    bytes += chunk.length
    if (bytes > bytesMax) throw refuseSize(bytesMax)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function getHeader({ headers }: Dispatcher.ResponseData, name: string): string {
  const value = headers[name]
  return (Array.isArray(value) ? value[0] : value) ?? ''
}

function refuseSize(bytesMax: number): RegistryError {
  return fail(`answers with more than the ${bytesMax} bytes that are read`)
}
