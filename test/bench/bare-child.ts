import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The yardstick: a bare `node:http` server that answers every address with as many bytes as the node does. */
const sizes = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as Record<string, number>
const bodies = new Map(Object.entries(sizes).map(([path, size]) => [path, Buffer.alloc(size, 'x')]))
const server = createServer((request, response) => {
  const body = bodies.get(request.url!)!
  response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'content-length': body.length })
  response.end(body)
})
server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }))
// The parent process has ended.
process.once('disconnect', () => process.exit(0))
process.once('SIGTERM', () => process.exit(0))
