import type { RequestListener, ServerResponse } from 'node:http'
import { NodeRequest, sendNodeResponse } from 'srvx/node'
import { WholeResponse } from './replies.ts'

/**
 * Answers Node's requests by a handler that never throws. srvx writes the body and then ends, which has Node put the
 * head, the body and an empty end together for the kernel; a response in one piece goes out as one text instead.
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

/** Above it, copying the bytes into the text costs more than a second piece. */
const textBytesMax = 16 * 1024

function sendWhole(res: ServerResponse, { status, head, content }: WholeResponse): void {
  const fields: string[] = []
  // Without `flat`, which takes longer than sending the head.
  for (const [name, value] of head) fields.push(name, value)
  res.writeHead(status, fields)
  if (content === null) res.end()
  else if (content.byteLength > textBytesMax) res.end(content)
  // Each byte is one character of this encoding, whatever it means.
  else res.end(Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('latin1'), 'latin1')
}
