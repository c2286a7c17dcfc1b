import { request, type IncomingMessage, type ServerResponse } from 'node:http'
import { pipeline } from 'node:stream'

/** Sends a request on to a port of loopback, as a proxy does, and the response back. */
export function forwardRequest(incoming: IncomingMessage, outgoing: ServerResponse, port: number, path?: string): void {
  const { method, url, headers } = incoming
  const inner = request({ host: '127.0.0.1', port, method, path: path ?? url, headers }, (response) => {
    // A browser that leaves a page closes its requests.
    if (outgoing.destroyed) return void response.destroy()
    outgoing.writeHead(response.statusCode!, response.headers)
    pipeline(response, outgoing, () => {})
  })
  pipeline(incoming, inner, (error) => error && outgoing.destroy())
}
