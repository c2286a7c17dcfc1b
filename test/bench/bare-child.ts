import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { BareAnswers } from './children.ts'

/** The yardstick: a bare `node:http` server that answers every address with as many bytes as the node does. */
const { sizes, headers } = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as BareAnswers
const bodies = new Map(Object.entries(sizes).map(([path, size]) => [path, Buffer.alloc(size, 'x')]))
const server = createServer((request, response) => {
  const body = bodies.get(request.url!)!
  response.writeHead(200, { ...headers, 'content-length': body.length })
  response.end(body)
})
server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }))
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send!({ cpuMs: (user + system) / 1000 })
})
// The parent process has ended.
process.once('disconnect', () => process.exit(0))
process.once('SIGTERM', () => process.exit(0))
