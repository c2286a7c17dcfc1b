import type { RequestListener, ServerResponse } from 'node:http'
import { NodeRequest, sendNodeResponse } from 'srvx/node'
import { WholeResponse } from './replies.ts'

/**
 * Handles Node's requests by a handler that never throws. srvx writes the head, the body and an empty end separately;
 * here a complete response is sent as one write.
 */
export function toListener(fetch: (request: Request) => Promise<Response>): RequestListener {
  return (req, res) => {
    const request = new NodeRequest({ req, res })
    void fetch(request)
      .then((response) =>
        response instanceof WholeResponse ? sendWhole(res, response) : sendNodeResponse(res, response),
      )
      .catch((error: Error) => res.destroy(error))
  }
}

/** Above this size, copying the bytes into one text costs more than a second write. */
const textBytesMax = 16 * 1024

function sendWhole(res: ServerResponse, { status, head, content }: WholeResponse): void {
  const fields: string[] = []
  // A loop, because `flat` takes longer than sending the head.
  for (const [name, value] of head) fields.push(name, value)
  res.writeHead(status, fields)
  if (content === null) res.end()
  else if (content.byteLength > textBytesMax) res.end(content)
  // In this encoding each byte is one character.
  else res.end(Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('latin1'), 'latin1')
}
