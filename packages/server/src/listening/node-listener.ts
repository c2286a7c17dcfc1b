import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { NodeRequest, sendNodeResponse } from 'srvx/node'
import type { Refusal, Refuse } from './client-errors.ts'
import type { ConnectionLimits } from './connections.ts'
import type { Call } from '../context/call.ts'
import type { OpenedNode } from '../node.ts'
import { WholeResponse } from '../replies/replies.ts'

const noHost: Refusal = { code: 'invalid_request', status: 400, detail: 'Send one `Host` header.' }
const tooManyHeaders: Refusal = { code: 'invalid_request', status: 431, detail: 'There are too many headers.' }

/** Sends the response to a request; never throws. */
export type Serve = (call: Call, res: ServerResponse) => void

/**
 * Returns a listener for Node's requests, which calls `serve`. Refuses requests that Node's parser accepts, with too
 * many headers, or with a missing or repeated `Host` (RFC 9112, section 3.2).
 */
export function toRequestListener(
  { begin }: Pick<OpenedNode, 'begin'>,
  serve: Serve,
  { headersMax }: Pick<ConnectionLimits, 'headersMax'>,
  refuse: Refuse,
): RequestListener {
  return function receive(req, res) {
    // A pipelined request waits for the response to the previous one, so that a connection has one response in memory
    // and responses stay in order.
    if (res.socket === null) return void res.once('socket', () => receive(req, res))
    if (req.rawHeaders.length > headersMax * 2) return void refuse(req.socket, tooManyHeaders)
    if (!hasOneHost(req)) return void refuse(req.socket, noHost)
    serve(begin(new NodeRequest({ req, res })), res)
  }
}

/** Serves requests through the router. */
export function serveRouted({ handle }: Pick<OpenedNode, 'handle'>): Serve {
  return function serve(call, res) {
    handle(call)
      .then((response) => sendResponse(res, response))
      .catch((error: Error) => res.destroy(error))
  }
}

/**
 * Sends a response. srvx writes the head, the body and an empty end separately; here a short response with a complete
 * body is sent in one write.
 */
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

/** Up to this size, a body is sent with the head as one text. Copying a larger one costs more than a second write. */
const textBytesMax = 16 * 1024

function sendWhole(res: ServerResponse, { status, head, content }: WholeResponse): void {
  const fields: string[] = []
  // This is a loop, because `flat` takes longer than sending the head.
  for (const [name, value] of head) fields.push(name, value)
  res.writeHead(status, fields)
  if (content === null) res.end()
  else if (content.byteLength > textBytesMax) res.end(content)
  else res.end(Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('latin1'), 'latin1')
}
