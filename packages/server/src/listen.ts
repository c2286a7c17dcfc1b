import { tracingChannel } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import type { Metric, Registry } from '@skillstead/core'
import { createAddresses } from './addresses.ts'
import { clientErrorHandler, createRefuse, type Refusal, type Refuse } from './client-errors.ts'
import { guardConnections, setTimeouts, toConnectionLimits, type ConnectionLimits, type Guard } from './connections.ts'
import { createNode } from './node.ts'
import type { NodeOptions } from './options.ts'
import { toListener } from './send.ts'

export interface ListenOptions extends NodeOptions {
  /** 7545 where it is not said; 0 takes any free one. */
  readonly port?: number
  /** `127.0.0.1` where it is not said. */
  readonly host?: string
  /** How long requests that are under way may take once the node closes: 10 seconds where it is not said. */
  readonly graceMs?: number
  /** What is borne of those who connect, where it is not what {@link ConnectionLimits} says. */
  readonly connections?: Partial<ConnectionLimits>
}

/** A node that listens. */
export interface ListeningNode {
  /** Where it listens, as in `http://127.0.0.1:7545`. */
  readonly url: string
  readonly port: number
  /** Takes nothing new, finishes what is under way, closes all connections. The registry stays open. */
  close(): Promise<void>
}

/**
 * Serves a registry on a port. Throws an Error with one clear sentence when it cannot listen there, and a TypeError for
 * options that make no sense.
 *
 * @example
 * const node = await listenNode(registry, { port: 7545 })
 * console.log(node.url)
 */
export async function listenNode(registry: Registry, options: ListenOptions = {}): Promise<ListeningNode> {
  const { host = '127.0.0.1', port = 7545, graceMs = 10_000 } = options
  const limits = toConnectionLimits(options.connections)
  const node = createNode(registry, options)
  const refuse = createRefuse(options)
  const handle = withWholeHead(toListener(node.fetch), limits, refuse)
  const server = await bind(handle, { host, port, limits }).catch((error: Error) => {
    node.close()
    throw error
  })
  // listhen's own bookkeeping of requests costs each of them; Node knows its idle connections by itself.
  server.removeAllListeners('request').on('request', handle)
  server.on('clientError', clientErrorHandler(refuse))
  // Without these Node answers by itself, in another form, or not at all.
  server.on('checkExpectation', handle)
  server.on('connect', (_, socket) => void refuse(socket, noProxy))
  const guard = guardConnections(server, limits, {
    isProxy: createAddresses(options.trustedProxies ?? []).isProxy,
    refuse: (socket) => void refuse(socket, tooManyConnections),
  })
  registry.addMetrics(async () => toMetrics(guard))
  const bound = (server.address() as AddressInfo).port
  let closing: Promise<void> | undefined
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    port: bound,
    close() {
      node.drain()
      return (closing ??= stop(server, guard, graceMs).finally(() => {
        guard.stop()
        node.close()
      }))
    },
  }
}

function toMetrics(guard: Guard): Metric[] {
  const { open, refused, givenUp } = guard.figures()
  return [
    { name: 'skillstead_connections', help: 'Connections that are open.', type: 'gauge', value: open },
    {
      name: 'skillstead_connections_refused_total',
      help: 'Connections refused because there were too many.',
      type: 'counter',
      value: refused,
    },
    {
      name: 'skillstead_connections_given_up_total',
      help: 'Connections ended because their callers took answers too slowly.',
      type: 'counter',
      value: givenUp,
    },
  ]
}

const noProxy: Refusal = { code: 'invalid_request', status: 400, detail: 'This node is no proxy.' }
const noHost: Refusal = { code: 'invalid_request', status: 400, detail: 'Send one `Host` header.' }
const tooManyHeaders: Refusal = { code: 'invalid_request', status: 431, detail: 'There are too many headers.' }
const tooManyConnections: Refusal = {
  code: 'rate_limited',
  status: 429,
  detail: 'This address has too many connections open; close some, or use those that are open.',
}

/**
 * Refuses what Node's parser lets through: a flood of headers, and no name of a host or several (RFC 9112, 3.2). What
 * comes behind another request is begun when that is answered, so that a connection has one answer in memory, and none
 * that overtakes another.
 */
function withWholeHead(handle: RequestListener, { headersMax }: ConnectionLimits, refuse: Refuse): RequestListener {
  const begin = (request: IncomingMessage, response: ServerResponse) => {
    const { rawHeaders } = request
    if (rawHeaders.length > headersMax * 2) return void refuse(request.socket, tooManyHeaders)
    if (!hasOneHost(request)) return void refuse(request.socket, noHost)
    return handle(request, response)
  }
  return (request: IncomingMessage, response: ServerResponse) => {
    if (response.socket !== null) return begin(request, response)
    return void response.once('socket', () => begin(request, response))
  }
}

function hasOneHost({ rawHeaders, httpVersionMinor }: IncomingMessage): boolean {
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  return hosts === 1 || (hosts === 0 && httpVersionMinor === 0)
}

interface Place {
  readonly host: string
  readonly port: number
  readonly limits: ConnectionLimits
}

/**
 * listhen looks for a free port and then takes it. In between somebody else can, and listhen leaves the server without
 * a listener for that error, which would end the process: so the server is watched from when it begins to listen.
 */
async function bind(handle: RequestListener, place: Place): Promise<Server> {
  const { port } = place
  const attempts = port === 0 ? 5 : 1
  for (let attempt = 1; ; attempt++) {
    try {
      return await bindOnce(handle, place)
    } catch (error) {
      if (attempt < attempts) continue
      const found = (error as Error).name === 'GetPortError' ? await findBindError(place) : error
      const { code } = found as NodeJS.ErrnoException
      throw Object.assign(new Error(toFailure(found as NodeJS.ErrnoException, place), { cause: error }), { code })
    }
  }
}

async function bindOnce(handle: RequestListener, { host, port, limits }: Place): Promise<Server> {
  // Loaded here, so that who only embeds `createNode` never loads it.
  const { listen } = await import('listhen')
  const channel = tracingChannel<{ server: Server }>('net.server.listen')
  let watch: { asyncStart(message: { server: Server }): void }
  const failed = new Promise<never>((_, reject) => {
    watch = {
      asyncStart({ server }) {
        if (!server.listeners('request').includes(handle)) return
        server.once('error', reject)
        setTimeouts(server, limits)
      },
    }
  })
  channel.subscribe(watch! as never)
  try {
    const listening = listen(handle, {
      hostname: host,
      port,
      isProd: port !== 0,
      isTest: true,
      showURL: false,
      autoClose: false,
    })
    const { server, close } = await Promise.race([listening, failed])
    const bound = (server.address() as AddressInfo).port
    if (port === 0 || bound === port) return server as Server
    await close()
    throw new Error('no browser connects to that port; choose another')
  } finally {
    channel.unsubscribe(watch! as never)
  }
}

/** Why a port cannot be taken, which listhen does not tell: the error of Node's own attempt. */
async function findBindError({ host, port }: Place): Promise<unknown> {
  const probe = createServer()
  try {
    await once(probe.listen({ host, port, exclusive: true }), 'listening')
    probe.close()
    return new Error('the port is in use, or not permitted')
  } catch (error) {
    return error
  }
}

function toFailure(error: NodeJS.ErrnoException, { host, port }: Place): string {
  if (error.code === 'EADDRINUSE') return `Port ${port} is already in use.`
  return `Cannot listen on ${host}, port ${port}: ${toReason(error)}.`
}

function toReason(error: NodeJS.ErrnoException): string {
  if (error.code === 'EACCES') return 'this user may not take the port'
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND') return 'this machine has no such address'
  return error.message
}

/** Idle connections close at once, busy ones after their answer, and what is still busy after the grace period too. */
function stop(server: Server, guard: Guard, graceMs: number): Promise<void> {
  const closeIdle = server.closeIdleConnections.bind(server)
  // Node takes an answer that was made for one that was taken, and would cut off who is in the middle of it.
  server.closeIdleConnections = () => void (guard.isSending() || closeIdle())
  return new Promise((resolve) => {
    const deadline = setTimeout(() => server.closeAllConnections(), graceMs)
    // A connection that turns idle later is kept alive by Node, closing server or not.
    const sweep = setInterval(() => server.closeIdleConnections(), 20)
    server.close(() => {
      clearTimeout(deadline)
      clearInterval(sweep)
      resolve()
    })
  })
}
