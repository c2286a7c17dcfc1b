import { once } from 'node:events'
import { createServer, request as ask } from 'node:http'
import { connect, type AddressInfo } from 'node:net'

/** A proxy on loopback for the requests of a node or a command. */
export interface ForwardProxy {
  readonly url: string
  /** What it was asked for: `CONNECT 127.0.0.1:443`, `GET http://example.com/`. */
  readonly requests: string[]
  /** The status and page with which it refuses every request. Default: none, and it serves them. */
  refusal: { readonly status: number; readonly page: string } | undefined
  /** The `Proxy-Authorization` of the last request. */
  authorization: string | undefined
  close(): Promise<void>
}

/** Opens a proxy that resolves no name: it connects to addresses, and leads every name to `port` of loopback. */
export async function openForwardProxy(port = 0): Promise<ForwardProxy> {
  const proxy = {
    requests: [] as string[],
    refusal: undefined,
    authorization: undefined,
  } as unknown as ForwardProxy & {
    url: string
  }
  const server = createServer((request, response) => {
    proxy.requests.push(`${request.method} ${request.url}`)
    proxy.authorization = request.headers['proxy-authorization']
    if (proxy.refusal) {
      return void response.writeHead(proxy.refusal.status, { 'content-type': 'text/html' }).end(proxy.refusal.page)
    }
    const { pathname, search } = new URL(request.url!)
    const onward = ask(
      { port, path: pathname + search, method: request.method, headers: request.headers },
      (answer) => {
        response.writeHead(answer.statusCode!, answer.headers)
        answer.pipe(response)
      },
    )
    onward.on('error', () => response.destroy())
    request.pipe(onward)
  })
  server.on('connect', (request, socket) => {
    proxy.requests.push(`CONNECT ${request.url}`)
    proxy.authorization = request.headers['proxy-authorization']
    socket.on('error', () => undefined)
    if (proxy.refusal) {
      const { status, page } = proxy.refusal
      return void socket.end(`HTTP/1.1 ${status} Status\r\ncontent-type: text/html\r\n\r\n${page}`)
    }
    const [, host, to] = /^(?:\[?(.*?)\]?):(\d+)$/.exec(request.url!)!
    const isAddress = /^[\d.]+$|:/.test(host!)
    const onward = connect(isAddress ? Number(to) : port, isAddress ? host : '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      socket.pipe(onward).pipe(socket)
    })
    onward.on('error', () => socket.destroy())
    socket.on('close', () => onward.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return Object.assign(proxy, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.close()
      server.closeAllConnections()
    },
  })
}
