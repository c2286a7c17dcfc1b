import { spawn } from 'node:child_process'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The yardstick: `git http-backend` behind a `node:http` server that speaks CGI (RFC 3875) to it. */
const root = process.argv[2]!

function answer(request: IncomingMessage, response: ServerResponse): void {
  const { pathname, search } = new URL(request.url!, 'http://127.0.0.1')
  if (pathname === '/healthz') return void response.end('{"status":"ok"}')
  const { 'content-type': type = '', 'content-length': length = '', 'git-protocol': protocol } = request.headers
  const child = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env.PATH,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_CONFIG_NOSYSTEM: '1',
      HOME: root,
      REQUEST_METHOD: request.method,
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      CONTENT_TYPE: type,
      CONTENT_LENGTH: length,
      ...(protocol && { GIT_PROTOCOL: `${protocol}` }),
      ...(request.headers['content-encoding'] && { HTTP_CONTENT_ENCODING: request.headers['content-encoding'] }),
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  request.pipe(child.stdin)
  child.stdin.on('error', () => {})
  let head = Buffer.alloc(0)
  child.stdout.on('data', function readHead(chunk: Buffer) {
    head = Buffer.concat([head, chunk])
    const end = head.indexOf('\r\n\r\n')
    if (end === -1) return
    child.stdout.off('data', readHead)
    const lines = head.toString('latin1', 0, end).split('\r\n')
    const fields = lines.map((line) => line.split(': ', 2) as [string, string])
    const status = fields.find(([name]) => name === 'Status')?.[1] ?? '200'
    const headers = fields.filter(([name]) => name !== 'Status')
    response.writeHead(Number.parseInt(status, 10), headers.flat())
    response.write(head.subarray(end + 4))
    child.stdout.pipe(response)
  })
}

const server = createServer(answer)
server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }))
// The parent process has ended.
process.once('disconnect', () => process.exit(0))
process.once('SIGTERM', () => process.exit(0))
