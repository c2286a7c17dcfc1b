import { tracingChannel } from 'node:diagnostics_channel'
import type { RequestListener, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { H3 } from 'h3'
import { toNodeHandler } from 'h3/node'
import type { Registry } from '@skillstead/core'
import { clientErrorHandler } from './client-errors.ts'
import { createNode } from './node.ts'
import type { NodeOptions } from './options.ts'

export interface ListenOptions extends NodeOptions {
  /** 7545 where it is not said; 0 takes any free one. */
  readonly port?: number
  /** `127.0.0.1` where it is not said. */
  readonly host?: string
  /** How long requests that are under way may take once the node closes: 10 seconds where it is not said. */
  readonly graceMs?: number
}

/** A node that listens. */
export interface ListeningNode {
  /** Where it listens, as in `http://127.0.0.1:7545`. */
  readonly url: string
  readonly port: number
  /** Takes nothing new, finishes what is under way, closes all connections. The registry stays open. */
  close(): Promise<void>
}

const timeouts = { headersTimeout: 15_000, requestTimeout: 120_000, keepAliveTimeout: 30_000 }
const headerBytesMax = 16 * 1024

/**
 * Serves a registry on a port. Throws an Error with one clear sentence when it cannot listen there.
 *
 * @example
 * const node = await listenNode(registry, { port: 7545 })
 * console.log(node.url)
 */
export async function listenNode(registry: Registry, options: ListenOptions = {}): Promise<ListeningNode> {
  const { host = '127.0.0.1', port = 7545, graceMs = 10_000 } = options
  const node = createNode(registry, options)
  const handle = toNodeHandler(node as unknown as H3) as RequestListener
  const server = await bind(handle, host, port).catch((error: Error) => {
    node.close()
    throw error
  })
  Object.assign(server, timeouts, { maxHeaderSize: headerBytesMax })
  // listhen's own bookkeeping of requests costs each of them; Node knows its idle connections by itself.
  server.removeAllListeners('request').on('request', handle)
  server.on('clientError', clientErrorHandler(options.rates))
  const bound = (server.address() as AddressInfo).port
  let closing: Promise<void> | undefined
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    port: bound,
    close() {
      node.drain()
      return (closing ??= stop(server, graceMs).finally(() => node.close()))
    },
  }
}

/**
 * listhen looks for a free port and then takes it. In between somebody else can, and listhen leaves the server without
 * a listener for that error, which would end the process: so the server is watched from when it begins to listen.
 */
async function bind(handle: RequestListener, host: string, port: number): Promise<Server> {
  const attempts = port === 0 ? 5 : 1
  for (let attempt = 1; ; attempt++) {
    try {
      return await bindOnce(handle, host, port)
    } catch (error) {
      if (attempt < attempts) continue
      const reason = toReason(error as NodeJS.ErrnoException)
      throw new Error(`Cannot listen on ${host}, port ${port}: ${reason}.`, { cause: error })
    }
  }
}

async function bindOnce(handle: RequestListener, host: string, port: number): Promise<Server> {
  // Loaded here, so that who only embeds `createNode` never loads it.
  const { listen } = await import('listhen')
  const channel = tracingChannel<{ server: Server }>('net.server.listen')
  let watch: { asyncStart(message: { server: Server }): void }
  const failed = new Promise<never>((_, reject) => {
    watch = {
      asyncStart({ server }) {
        if (server.listeners('request').includes(handle)) server.once('error', reject)
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

function toReason(error: NodeJS.ErrnoException): string {
  if (error.code === 'EACCES') return 'this user may not take the port'
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND') return 'this machine has no such address'
  if (error.code === 'EADDRINUSE' || error.name === 'GetPortError') return 'the port is in use, or not permitted'
  return error.message
}

/** Idle connections close at once, busy ones after their answer, and what is still busy after the grace period too. */
function stop(server: Server, graceMs: number): Promise<void> {
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
