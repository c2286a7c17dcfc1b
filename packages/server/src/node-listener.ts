import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { NodeRequest, sendNodeResponse } from 'srvx/node'
import type { Refusal, Refuse } from './client-errors.ts'
import type { ConnectionLimits } from './connections.ts'
import type { ServeCached } from './cached-details.ts'
import { WholeResponse } from './replies.ts'

const noHost: Refusal = { code: 'invalid_request', status: 400, detail: 'Send one `Host` header.' }
const tooManyHeaders: Refusal = { code: 'invalid_request', status: 431, detail: 'There are too many headers.' }

/**
 * Handles Node's requests by handlers that never throw: `serveCached` those that it takes, `fetch` the others. Refuses
 * requests that Node's parser accepts: too many headers, and a missing or repeated `Host` (RFC 9112, section 3.2). srvx
 * writes the head, the body and an empty end separately; here a complete response is sent as one write.
 */
export function toListener(
  { fetch, serveCached }: { fetch(request: Request): Promise<Response>; readonly serveCached: ServeCached },
  { headersMax }: Pick<ConnectionLimits, 'headersMax'>,
  refuse: Refuse,
): RequestListener {
  return function receive(req, res) {
    // A pipelined request waits for the response to the previous one, so that a connection has one response in memory
    // and responses stay in order.
    if (res.socket === null) return void res.once('socket', () => receive(req, res))
    if (req.rawHeaders.length > headersMax * 2) return void refuse(req.socket, tooManyHeaders)
    if (!hasOneHost(req)) return void refuse(req.socket, noHost)
    if (serveCached(req, res)) return
    void fetch(new NodeRequest({ req, res }))
      .then((response) => sendResponse(res, response))
      .catch((error: Error) => res.destroy(error))
  }
}

/** Sends a response; a complete one in one write if it is short. */
export async function sendResponse(res: ServerResponse, response: Response): Promise<void> {
  if (response instanceof WholeResponse) sendWhole(res, response)
  else await sendNodeResponse(res, response)
}

function hasOneHost({ rawHeaders, httpVersionMinor }: IncomingMessage): boolean {
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  return hosts === 1 || (hosts === 0 && httpVersionMinor === 0)
}

/** Above this size, copying the bytes into one text costs more than a second write. */
export const textBytesMax = 16 * 1024

function sendWhole(res: ServerResponse, { status, head, content }: WholeResponse): void {
  const fields: string[] = []
  // A loop, because `flat` takes longer than sending the head.
  for (const [name, value] of head) fields.push(name, value)
  res.writeHead(status, fields)
  if (content === null) res.end()
  else if (content.byteLength > textBytesMax) res.end(content)
  else res.end(toLatin1(content), 'latin1')
}

/** A text in which each byte is one character. */
export function toLatin1({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('latin1')
}
