import type { Server } from 'node:http'
import { Server as TlsServer } from 'node:tls'
import type { AddressInfo } from 'node:net'
import type { Metric, Registry } from '@skillstead/core'
import { toMetric } from '@skillstead/core/internal'
import { createAddresses } from '../context/addresses.ts'
import { bindServer, type TlsCertificate } from './bind.ts'
import { clientErrorHandler, createRefuse, type Refusal } from './client-errors.ts'
import { guardConnections, toConnectionLimits, type ConnectionLimits, type Guard } from './connections.ts'
import { openNode } from '../node.ts'
import type { NodeOptions } from '../context/options.ts'
import { serveRouted, toRequestListener } from './node-listener.ts'
import { serveCached } from './serve-cached.ts'

/** Options of `listenNode`: those of the node, and where it listens. */
export interface ListenOptions extends NodeOptions {
  /** Default: 7545. 0 uses any free port. */
  readonly port?: number
  /** Default: `127.0.0.1`. */
  readonly host?: string
  /** Serves HTTPS with this certificate; requires `publicUrl`. Default: HTTP, for a proxy that serves HTTPS. */
  readonly tls?: TlsCertificate | undefined
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
  /** Uses another certificate for new connections. Throws an Error if it is invalid, or if the node has no `tls`. */
  setCertificate(tls: TlsCertificate): void
  /** Refuses new requests, finishes the requests in progress, and closes all connections. The registry stays open. */
  close(): Promise<void>
}

/**
 * Serves a registry on a port. Throws an Error with a readable message if it cannot listen on the port, and a TypeError
 * for invalid options.
 *
 * @example
 * const node = await listenNode(registry, { port: 7545 })
 * console.log(node.url)
 */
export async function listenNode(registry: Registry, options: ListenOptions = {}): Promise<ListeningNode> {
  const { host = '127.0.0.1', port = 7545, graceMs = 10_000, tls } = options
  if (tls && !options.publicUrl?.startsWith('https://'))
    throw new TypeError('A node with a certificate needs a public URL that begins with https://.')
  const limits = toConnectionLimits(options.connections)
  const node = openNode(registry, options)
  const refuse = createRefuse(options)
  const handle = toRequestListener(node, serveCached(node.parts, serveRouted(node)), limits, refuse)
  const server = await bindServer(handle, { host, port, limits, tls }).catch((error: Error) => {
    node.close()
    throw error
  })
  server.on('clientError', clientErrorHandler(refuse))
  // Without these listeners Node would respond to `Expect` and `CONNECT` itself, in another format or not at all.
  server.on('checkExpectation', handle)
  server.on('connect', (_, socket) => void refuse(socket, noProxy))
  const guard = guardConnections(server, limits, {
    isProxy: createAddresses(options.trustedProxies ?? []).isProxy,
    refuse: (socket) => void refuse(socket, tooManyConnections),
  })
  registry.addMetrics(async () => toConnectionMetrics(guard))
  const bound = (server.address() as AddressInfo).port
  let closing: Promise<void> | undefined
  return {
    url: `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    port: bound,
    setCertificate(certificate) {
      if (!(server instanceof TlsServer))
        throw new Error('This node serves HTTP and takes no certificate. Pass `tls` when it starts.')
      server.setSecureContext(certificate)
    },
    close() {
      node.drain()
      return (closing ??= stopServer(server, guard, graceMs).finally(() => {
        guard.stop()
        node.close()
      }))
    },
  }
}

function toConnectionMetrics(guard: Guard): Metric[] {
  const { open, refused, givenUp } = guard.figures()
  return [
    toMetric('skillstead_connections', 'Open connections.', open),
    toMetric('skillstead_connections_refused_total', 'Connections refused because there were too many.', refused),
    toMetric(
      'skillstead_connections_given_up_total',
      'Connections closed because their clients read responses too slowly.',
      givenUp,
    ),
  ]
}

const noProxy: Refusal = { code: 'invalid_request', status: 400, detail: 'This node is not a proxy.' }
const tooManyConnections: Refusal = {
  code: 'rate_limited',
  status: 429,
  detail:
    'This address has too many connections open; close some of them, or reuse them. The operator sets this limit with ' +
    '`--connection-limits address=NUMBER`.',
}

/**
 * Closes idle connections at once, busy connections after their response, and all that are left after the grace period.
 */
function stopServer(server: Server, guard: Guard, graceMs: number): Promise<void> {
  const closeIdle = server.closeIdleConnections.bind(server)
  // Node counts a response as sent when it is written, and would cut off a client that is still receiving the response.
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
