import { tracingChannel } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { RequestListener, Server } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import type { Metric, Registry } from '@skillstead/core'
import { createAddresses } from './addresses.ts'
import { clientErrorHandler, createRefuse, type Refusal } from './client-errors.ts'
import { guardConnections, setTimeouts, toConnectionLimits, type ConnectionLimits, type Guard } from './connections.ts'
import { openNode } from './node.ts'
import type { NodeOptions } from './options.ts'
import { toListener } from './node-listener.ts'

/** Options of `listenNode`: those of the node, and where it listens. */
export interface ListenOptions extends NodeOptions {
  /** Default: 7545. 0 uses any free port. */
  readonly port?: number
  /** Default: `127.0.0.1`. */
  readonly host?: string
  /** Time for requests in progress to finish when the node closes, in milliseconds. Default: 10,000. */
  readonly graceMs?: number
  /** Connection limits. Default: {@link ConnectionLimits}. */
  readonly connections?: Partial<ConnectionLimits>
}

/** A listening node. */
export interface ListeningNode {
  /** The URL of the node, such as `http://127.0.0.1:7545`. */
  readonly url: string
  readonly port: number
  /** Refuses new requests, finishes those in progress, and closes all connections. The registry stays open. */
  close(): Promise<void>
}

/**
 * Serves a registry on a port. Throws an Error with a readable message when it cannot listen there, and a TypeError for
 * invalid options.
 *
 * @example
 * const node = await listenNode(registry, { port: 7545 })
 * console.log(node.url)
 */
export async function listenNode(registry: Registry, options: ListenOptions = {}): Promise<ListeningNode> {
  const { host = '127.0.0.1', port = 7545, graceMs = 10_000 } = options
  const limits = toConnectionLimits(options.connections)
  const node = openNode(registry, options)
  const refuse = createRefuse(options)
  const handle = toListener(node, limits, refuse)
  const server = await bind(handle, { host, port, limits }).catch((error: Error) => {
    node.close()
    throw error
  })
  // listhen tracks every request, which is slow; Node itself tracks idle connections.
  server.removeAllListeners('request').on('request', handle)
  server.on('clientError', clientErrorHandler(refuse))
  // Without these listeners Node would respond itself in another format, or not at all.
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
    { name: 'skillstead_connections', help: 'Open connections.', type: 'gauge', value: open },
    {
      name: 'skillstead_connections_refused_total',
      help: 'Connections refused because there were too many.',
      type: 'counter',
      value: refused,
    },
    {
      name: 'skillstead_connections_given_up_total',
      help: 'Connections closed because their clients read responses too slowly.',
      type: 'counter',
      value: givenUp,
    },
  ]
}

const noProxy: Refusal = { code: 'invalid_request', status: 400, detail: 'This node is not a proxy.' }
const tooManyConnections: Refusal = {
  code: 'rate_limited',
  status: 429,
  detail: 'This address has too many connections open; close some, or use those that are open.',
}

interface Place {
  readonly host: string
  readonly port: number
  readonly limits: ConnectionLimits
}

/**
 * listhen first looks for a free port and then takes it. If another process takes the port in between, listhen leaves
 * the server without an error listener, which would end the process. So the server is watched from the moment it begins
 * to listen.
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
  // Load listhen on first use, so that programs that only embed `createNode` do not load it.
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
    throw new Error('browsers block that port; choose another')
  } finally {
    channel.unsubscribe(watch! as never)
  }
}

/**
 * The reason why a port cannot be used. listhen does not report it, so this function tries to listen with Node itself.
 */
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
  if (error.code === 'EACCES') return 'permission denied'
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND') return 'this machine has no such address'
  return error.message
}

/**
 * Closes idle connections at once, connections with a request after its response, and all others after the grace
 * period.
 */
function stop(server: Server, guard: Guard, graceMs: number): Promise<void> {
  const closeIdle = server.closeIdleConnections.bind(server)
  // Node counts a response as sent when it is written, and would cut off a client that is still receiving it.
  server.closeIdleConnections = () => void (guard.isSending() || closeIdle())
  return new Promise((resolve) => {
    const deadline = setTimeout(() => server.closeAllConnections(), graceMs)
    // Node keeps connections open that become idle later, even while the server closes.
    const sweep = setInterval(() => server.closeIdleConnections(), 20)
    server.close(() => {
      clearTimeout(deadline)
      clearInterval(sweep)
      resolve()
    })
  })
}
