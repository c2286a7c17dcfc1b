import tls, { type SecureContext } from 'node:tls'
import { RegistryError } from '@skillstead/protocol'
import type { Dispatcher } from 'undici'
import type { OutgoingResponse } from './outgoing.ts'
import type { CheckedAddress } from './target.ts'

interface Request {
  readonly url: URL
  readonly addresses: readonly CheckedAddress[]
  readonly bytesMax: number
  readonly signal: AbortSignal
  readonly secureContext: SecureContext | undefined
}

/** An answer, or where it says the answer is. */
export type Answer = OutgoingResponse | { readonly redirect: string }

const redirectStatuses = new Set([301, 302, 303, 307, 308])
const headerBytesMax = 16 * 1024

/** Trust in certificates besides the system's; undefined for the system's alone. Throws where one cannot be read. */
export function toSecureContext(ca: readonly string[]): SecureContext | undefined {
  if (ca.length === 0) return undefined
  // Also what NODE_EXTRA_CA_CERTS and --use-system-ca added; Node.js before 22.15 does not tell.
  const known = tls.getCACertificates?.('default') ?? tls.rootCertificates
  return tls.createSecureContext({ ca: [...known, ...ca] })
}

/** One GET over a connection of its own, to the addresses that were checked and no others. */
export async function requestOnce(request: Request): Promise<Answer> {
  const { url, addresses, bytesMax, signal, secureContext } = request
  // Loaded when it is first needed: short commands never ask the outside anything.
  const { Client, buildConnector } = await import('undici')
  const connect = buildConnector({ secureContext, allowH2: false, lookup: toLookup(addresses) as never })
  const port = addresses[0]!.port
  const client = new Client(url.origin, {
    connect: (options, callback) => connect({ ...options, port: String(port ?? options.port) }, callback),
    maxHeaderSize: headerBytesMax,
  })
  try {
    const headers = { 'user-agent': 'skillstead', accept: '*/*', 'accept-encoding': 'identity' }
    const answer = await client.request({
      method: 'GET',
      path: url.pathname + url.search,
      headers,
      signal,
      reset: true,
    })
    // What is left of a body when the connection goes away is no error of anybody's.
    answer.body.on('error', () => {})
    if (redirectStatuses.has(answer.statusCode)) return { redirect: getHeader(answer, 'location') }
    return {
      status: answer.statusCode,
      url: url.href,
      contentType: getHeader(answer, 'content-type'),
      bytes: await readBody(answer, bytesMax),
    }
  } finally {
    await client.destroy()
  }
}

/** Answers with what was checked, so that a second question cannot be answered differently. Literals never ask. */
function toLookup(addresses: readonly CheckedAddress[]) {
  const found = addresses.map(({ address }) => ({ address, family: address.includes(':') ? 6 : 4 }))
  return (_host: string, options: { all?: boolean }, callback: (...answer: unknown[]) => void) => {
    if (options.all) callback(null, found)
    else callback(null, found[0]!.address, found[0]!.family)
  }
}

async function readBody(answer: Dispatcher.ResponseData, bytesMax: number): Promise<Uint8Array> {
  // A small body can unfold into an enormous one; nobody was asked for that.
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

/** An `upstream_failed` about the host that was asked. */
export function fail(what: string, cause?: unknown): RegistryError {
  return new RegistryError('upstream_failed', `The host of that address ${what}.`, { cause })
}
