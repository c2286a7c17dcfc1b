import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { Server as TlsServer } from 'node:tls'
import { toLimitKey } from '../context/addresses.ts'

/** All limits of connections. */
export interface ConnectionLimits {
  /** Time for the head of a request to arrive, in milliseconds; also applies to connections that send nothing. */
  readonly headMs: number
  /** Time for a whole request to arrive, in milliseconds. */
  readonly requestMs: number
  /**
   * Time that an idle connection stays open, in milliseconds: longer than in most proxies (60 s), so that the proxy
   * closes the connection first.
   */
  readonly idleMs: number
  /** Milliseconds that a caller may take to receive a response, plus its size divided by the slowest accepted rate. */
  readonly answerMs: number
  /** The slowest accepted rate at which a caller receives a response, in bytes per second. */
  readonly answerBytesPerSecondMin: number
  readonly headerBytesMax: number
  readonly headersMax: number
  /** Maximum number of open connections; further connections are closed at once. */
  readonly connectionsMax: number
  /** Maximum number of connections per address, or per /64 of IPv6; trusted proxies are exempt. */
  readonly addressConnectionsMax: number
  /**
   * Maximum size of unsent responses in memory, in bytes. Above it the connections that have read nothing for longest
   * are closed.
   */
  readonly waitingBytesMax: number
}

/** The default limits. */
export const connectionLimits: ConnectionLimits = {
  headMs: 15_000,
  requestMs: 120_000,
  idleMs: 75_000,
  answerMs: 60_000,
  answerBytesPerSecondMin: 16 * 1024,
  headerBytesMax: 16 * 1024,
  headersMax: 200,
  connectionsMax: 16_384,
  // A high limit, because installers open a connection for each entry of an index at once.
  addressConnectionsMax: 5000,
  waitingBytesMax: 512 * 1024 * 1024,
}

const sweepMs = 1000

/** Throws a TypeError for a limit that is not a positive whole number, and for an unknown name. */
export function toConnectionLimits(given: Partial<ConnectionLimits> = {}): ConnectionLimits {
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(connectionLimits, name))
      throw new TypeError(
        `There is no connection limit \`${name}\`. Use one of ${Object.keys(connectionLimits).join(', ')}.`,
      )
    if (!Number.isSafeInteger(value) || value < 1)
      throw new TypeError(`\`${name}\` must be a whole number of at least 1.`)
  }
  return { ...connectionLimits, ...given }
}

/** Sets the limits that Node itself enforces. Call it before the server listens, because Node starts its timer then. */
export function setTimeouts(server: Server, limits: ConnectionLimits): void {
  const { headMs, requestMs, idleMs, headerBytesMax, connectionsMax } = limits
  Object.assign(server, {
    headersTimeout: Math.min(headMs, requestMs),
    requestTimeout: requestMs,
    keepAliveTimeout: idleMs,
    connectionsCheckingInterval: Math.ceil(Math.min(5000, headMs / 4)),
    maxHeaderSize: headerBytesMax,
    // 0 is no limit: Node would silently drop headers above a limit, and the node refuses such a request itself.
    maxHeadersCount: 0,
    maxConnections: connectionsMax,
    // Off, because Node would respond in its own format. The node checks `Host` itself.
    requireHostHeader: false,
  })
}

export interface Guard {
  /** The figures for the metrics of the operator. */
  figures(): { readonly open: number; readonly refused: number; readonly givenUp: number }
  /** Whether responses are still being sent. */
  isSending(): boolean
  stop(): void
}

/**
 * Enforces the limits that Node lacks: connections per address, and responses that callers do not read. Without TLS,
 * calls `refuse` with each connection beyond the limit of its address, before anything of it is read.
 */
export function guardConnections(
  server: Server,
  limits: ConnectionLimits,
  { isProxy, refuse }: { isProxy(address: string): boolean; refuse(socket: Socket): void },
): Guard {
  const sockets = new Set<Socket>()
  function track(socket: Socket): void {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  }
  // With TLS, the unsent bytes are in the socket that encrypts them, and a refused connection is closed without a
  // response, which would be plain text.
  const isSecure = server instanceof TlsServer
  if (isSecure) server.on('secureConnection', track)
  const counts = new Map<string, number>()
  let refused = 0
  server.on('drop', () => void (refused += 1))
  const listeners = server.listeners('connection')
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress
    // The address is unknown because the connection was closed already.
    if (address === undefined) return void socket.destroy()
    if (!isProxy(address)) {
      const key = toLimitKey(address)
      const count = (counts.get(key) ?? 0) + 1
      if (count > limits.addressConnectionsMax) {
        refused += 1
        return isSecure ? void socket.destroy() : refuse(socket)
      }
      counts.set(key, count)
      socket.once('close', () => {
        const left = counts.get(key)! - 1
        if (left > 0) counts.set(key, left)
        else counts.delete(key)
      })
    }
    if (!isSecure) track(socket)
    for (const listener of listeners) listener.call(server, socket)
  })
  let givenUp = 0
  const sweep = createSweep(sockets, limits, () => void (givenUp += 1))
  const timer = setInterval(sweep, Math.min(sweepMs, limits.answerMs))
  timer.unref()
  return {
    figures: () => ({ open: sockets.size, refused, givenUp }),
    isSending() {
      for (const { writableLength } of sockets) if (writableLength > 0) return true
      return false
    },
    stop: () => clearInterval(timer),
  }
}

/** State of a connection with unsent bytes. */
interface Waiting {
  readonly deadlineMs: number
  /** Total number of bytes written to the connection since it was opened. */
  readonly bytesWritten: number
}

/**
 * Closes connections whose callers read too slowly and, if too many bytes are unsent, those that have read nothing for
 * longest.
 */
function createSweep(sockets: ReadonlySet<Socket>, limits: ConnectionLimits, onGivenUp: () => void): () => void {
  const { answerMs, answerBytesPerSecondMin, waitingBytesMax } = limits
  /** The connections in the order of their last progress, oldest first. */
  const waiting = new Map<Socket, Waiting>()
  const toMs = (bytes: number) => (bytes * 1000) / answerBytesPerSecondMin
  return () => {
    const nowMs = performance.now()
    for (const socket of waiting.keys()) if (socket.destroyed || socket.writableLength === 0) waiting.delete(socket)
    let bytes = 0
    for (const socket of sockets) {
      const { writableLength, bytesWritten } = socket
      if (writableLength === 0 || socket.destroyed) continue
      bytes += writableLength
      const known = waiting.get(socket)
      if (known?.bytesWritten === bytesWritten) continue
      // Each new response of a connection extends the deadline by its own time; time that earlier responses did not use
      // is not added.
      const latestMs = nowMs + answerMs + toMs(writableLength)
      const deadlineMs = known
        ? Math.min(latestMs, known.deadlineMs + toMs(bytesWritten - known.bytesWritten))
        : latestMs
      waiting.delete(socket)
      waiting.set(socket, { deadlineMs, bytesWritten })
    }
    for (const [socket, { deadlineMs }] of waiting) {
      if (bytes <= waitingBytesMax && nowMs < deadlineMs) continue
      bytes -= socket.writableLength
      socket.destroy()
      onGivenUp()
    }
  }
}
