import { createSocket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { NameResolver } from '@skillstead/core'
import dnsPacket from 'dns-packet'
import { generate } from 'selfsigned'

/** What the outside answers to one request. */
type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** The outside world on loopback: a web server with a certificate of its own CA, and a name server that leads to it. */
export interface Outside {
  /** The certificate (PEM) of the CA that signed the web server's. */
  readonly ca: string
  /** Asks the name server over the wire. Every host that has a page, and those of `names`, lead to the web server. */
  readonly resolver: NameResolver
  /** What pages answer, by host and path as in `example.com/a`; a text is sent as it is. */
  readonly pages: Map<string, string | Handler>
  /** TXT records by name; each is sent in the parts that are given. */
  readonly txt: Map<string, string[][]>
  /** Hosts that lead to the web server though they have no page. */
  readonly names: Set<string>
  /** Every request that came, as `GET example.com/a`. */
  readonly requests: string[]
  /** Every name that was asked for, as `TXT example.com`. */
  readonly questions: string[]
  /** While true, the web server closes every connection without a response. */
  unreachable: boolean
  close(): Promise<void>
}

/** Opens an outside for hosts of these domains; its certificate names them and what lies right below them. */
export async function openOutside(domains: readonly string[]): Promise<Outside> {
  const authority = await generate([{ name: 'commonName', value: 'A CA of tests' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  })
  const hosts = domains.flatMap((domain) => [domain, `*.${domain}`])
  const certificate = await generate([{ name: 'commonName', value: hosts[0]! }], {
    keyType: 'ec',
    algorithm: 'sha256',
    ca: { key: authority.private, cert: authority.cert },
    extensions: [
      { name: 'basicConstraints', cA: false },
      { name: 'subjectAltName', altNames: hosts.map((value) => ({ type: 2, value })) },
    ],
  })
  const outside = { pages: new Map(), txt: new Map(), names: new Set<string>(), requests: [], questions: [] }
  const world = { ...outside, unreachable: false, ca: authority.cert } as unknown as Outside & {
    resolver: NameResolver
  }
  const web = await openWeb(world, { key: certificate.private, cert: certificate.cert })
  const names = await openNames(world)
  return Object.assign(world, {
    resolver: toResolver(names.port, web.port),
    close: async () => void (await Promise.all([web.close(), names.close()])),
  })
}

/** A plain web server on an address of loopback, for what must, or must not, be reached. */
export async function openPlain(listener: RequestListener, host = '127.0.0.1') {
  const requests: string[] = []
  const server = createHttpServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    listener(request, response)
  })
  server.listen(0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { port, requests, close: () => closeServer(server) }
}

async function openWeb(world: Outside, certificate: { key: string; cert: string }) {
  const server = createHttpsServer(certificate, (request, response) => {
    const page = `${request.headers.host?.replace(/:\d+$/, '')}${request.url}`
    world.requests.push(`${request.method} ${page}`)
    if (world.unreachable) return void request.socket.destroy()
    const found = world.pages.get(page)
    if (typeof found === 'function') found(request, response)
    else response.writeHead(found === undefined ? 404 : 200, { 'content-type': 'text/plain' }).end(found ?? 'Nothing.')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, close: () => closeServer(server) }
}

async function closeServer(server: ReturnType<typeof createHttpServer>): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
}

async function openNames(world: Outside) {
  const socket = createSocket('udp4')
  socket.on('message', (message, { address, port }) => {
    const { id, questions = [] } = dnsPacket.decode(message)
    const [{ name, type } = { name: '', type: 'A' as const }] = questions
    world.questions.push(`${type} ${name}`)
    const answers = answer(world, type, name.toLowerCase())
    const rcode = answers === undefined ? 3 : 0
    socket.send(
      dnsPacket.encode({ type: 'response', id, flags: dnsPacket.AUTHORITATIVE_ANSWER | rcode, questions, answers }),
      port,
      address,
    )
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    port: socket.address().port,
    async close() {
      socket.close()
      await once(socket, 'close')
    },
  }
}

/** The records of a name; undefined where there is no such name. */
function answer(world: Outside, type: string, name: string): dnsPacket.Answer[] | undefined {
  const texts = world.txt.get(name)
  const isHost = world.names.has(name) || [...world.pages.keys()].some((page) => page.startsWith(`${name}/`))
  if (!texts && !isHost) return undefined
  if (type === 'A' && isHost) return [{ type, name, ttl: 0, data: '127.0.0.1' }]
  if (type === 'TXT' && texts) return texts.map((data) => ({ type, name, ttl: 0, data }))
  return []
}

function toResolver(namesPort: number, webPort: number): NameResolver {
  const resolver = new Resolver({ timeout: 10_000, tries: 2 })
  resolver.setServers([`127.0.0.1:${namesPort}`])
  return {
    lookup: async (host) => (await resolver.resolve4(host)).map((address) => ({ address, port: webPort })),
    txt: (name) => resolver.resolveTxt(name),
  }
}
