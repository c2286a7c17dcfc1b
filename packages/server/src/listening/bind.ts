import { tracingChannel } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { Server, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { createServer } from 'node:net'
import { readErrorCode, toErrorText, toFields } from '@skillstead/protocol'
import { setTimeouts, type ConnectionLimits } from './connections.ts'

/** A certificate chain and its private key, PEM. */
export interface TlsCertificate {
  readonly cert: string
  readonly key: string
}

interface Place {
  readonly host: string
  readonly port: number
  readonly limits: ConnectionLimits
  /** Default: HTTP without TLS. */
  readonly tls?: TlsCertificate | undefined
}

/** The maximum number of attempts to listen: another process may take the free port that listhen found. */
const attemptsMax = 5

/**
 * Listens with listhen, but not exactly as its documentation describes:
 * - the server gets its limits and an error listener as it begins to listen: Node starts the timer of its limits then,
 *   and an error without a listener would end the process if another process takes the port that listhen found free;
 * - listhen's listener for each request, which tracks idle connections as Node does, is removed: it takes 8 % of a
 *   cached read;
 * - if a port cannot be used, Node itself is asked for the reason, because listhen does not report it;
 * - a server with TLS is opened without listhen, which has no option for the time limit of the handshake.
 */
export async function bindServer(handle: RequestListener, place: Place): Promise<Server> {
  for (let attempt = 1; ; attempt++) {
    try {
      const server = place.tls ? await listenSecurely(handle, place, place.tls) : await listenOnce(handle, place)
      return server.removeAllListeners('request').on('request', handle)
    } catch (error) {
      if (place.port === 0 && attempt < attemptsMax) continue
      const found = error instanceof Error && error.name === 'GetPortError' ? await findBindError(place) : error
      const code = readErrorCode(found)
      throw Object.assign(new Error(toBindFailure(found, place), { cause: error }), { code })
    }
  }
}

async function listenOnce(handle: RequestListener, { host: hostname, port, limits }: Place): Promise<Server> {
  // Loaded on first use, so that programs that only embed `createNode` do not load listhen.
  const { listen } = await import('listhen')
  const beginning = tracingChannel<{ server: Server }>('net.server.listen').asyncStart
  const failed = Promise.withResolvers<never>()
  const watch = (message: unknown) => {
    const { server } = toFields(message)
    if (!(server instanceof Server) || !server.listeners('request').includes(handle)) return
    server.once('error', failed.reject)
    setTimeouts(server, limits)
  }
  beginning.subscribe(watch)
  try {
    const options = { hostname, port, isProd: port !== 0, isTest: true, showURL: false, autoClose: false }
    const { server, address, close } = await Promise.race([listen(handle, options), failed.promise])
    if (port === 0 || address.port === port) return server as Server
    await close()
    throw new Error('browsers block that port; choose another')
  } finally {
    beginning.unsubscribe(watch)
  }
}

async function listenSecurely(handle: RequestListener, place: Place, tls: TlsCertificate): Promise<Server> {
  const { host, port, limits } = place
  const server = createTlsServer({ ...tls, handshakeTimeout: limits.headMs }, handle)
  setTimeouts(server, limits)
  await once(server.listen({ host, port, exclusive: true }), 'listening')
  return server
}

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

function toBindFailure(error: unknown, { host, port }: Place): string {
  if (readErrorCode(error) === 'EADDRINUSE') return `Port ${port} is already in use.`
  return `Cannot listen on ${host}, port ${port}: ${toBindReason(error)}.`
}

function toBindReason(error: unknown): string {
  const code = readErrorCode(error)
  if (code === 'EACCES') return 'permission denied'
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') return 'this machine has no such address'
  return toErrorText(error)
}
