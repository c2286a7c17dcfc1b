import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { createServer as createTcpServer, type AddressInfo } from 'node:net'
import { generate } from 'selfsigned'

/**
 * Receivers of webhooks on loopback, in a process of their own, over real TLS. `/slow` answers after a second, `/hang`
 * never does, everything else at once. Nothing listens on the port `refused`.
 */
const slowMs = 1000
const name = process.argv[2]!
const { private: key, cert } = await generate([{ name: 'commonName', value: name }], {
  keyType: 'ec',
  algorithm: 'sha256',
  extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: `*.${name}` }] }],
})
let count = 0
let firstMs = 0
let lastMs = 0
/** When each numbered event came, of those who want to know. */
let arrivals: [number: number, atMs: number][] = []

const server = createServer({ key, cert }, (request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => void chunks.push(chunk))
  request.on('end', () => answer(request, response, chunks))
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', async () => {
  const { port } = server.address() as AddressInfo
  process.send!({ port, refused: await findClosedPort(), ca: cert })
})
process.on('message', () => {
  process.send!({ count, firstMs, lastMs, arrivals, cpuMs: process.cpuUsage().user / 1000 })
  count = 0
  arrivals = []
})
// The parent process has ended.
process.once('disconnect', () => process.exit(0))
process.once('SIGTERM', () => process.exit(0))

function answer({ url }: IncomingMessage, response: ServerResponse, chunks: readonly Buffer[]): void {
  lastMs = performance.timeOrigin + performance.now()
  if (count === 0) firstMs = lastMs
  count += 1
  if (url === '/timed') arrivals.push([readNumber(Buffer.concat(chunks)), lastMs])
  if (url === '/hang') return
  if (url === '/slow') setTimeout(() => response.end(), slowMs)
  else response.end()
}

function readNumber(body: Buffer): number {
  return (JSON.parse(body.toString()) as { data: { followerCount: number } }).data.followerCount
}

function findClosedPort(): Promise<number> {
  return new Promise((resolve) => {
    const closed = createTcpServer().listen(0, '127.0.0.1', () => {
      const { port } = closed.address() as AddressInfo
      closed.close(() => resolve(port))
    })
  })
}
