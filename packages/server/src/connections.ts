import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { toLimitKey } from './addresses.ts'

/** What a node bears of those who connect to it. Every bound of this kind is here. */
export interface ConnectionLimits {
  /** How long the head of a request may take to arrive; a connection that says nothing is one of those. */
  readonly headMs: number
  /** How long a whole request may take to arrive. */
  readonly requestMs: number
  /** How long a connection stays open between two requests: longer than proxies keep theirs, most of them for 60 s. */
  readonly idleMs: number
  /** How long a caller may take for an answer, besides what it takes at the slowest pace that is borne. */
  readonly answerMs: number
  /** That pace. */
  readonly answerBytesPerSecondMin: number
  readonly headerBytesMax: number
  readonly headersMax: number
  /** All connections at a time; further ones are closed at once. */
  readonly connectionsMax: number
  /** Of one address, or one /64 of IPv6; trusted proxies may have any number. */
  readonly addressConnectionsMax: number
  /** Answers that wait in memory for callers to take them; above it those that took nothing for longest are given up. */
  readonly waitingBytesMax: number
}

/** What holds where nothing else is said. */
export const connectionLimits: ConnectionLimits = {
  headMs: 15_000,
  requestMs: 120_000,
  idleMs: 75_000,
  answerMs: 60_000,
  answerBytesPerSecondMin: 16 * 1024,
  headerBytesMax: 16 * 1024,
  headersMax: 200,
  connectionsMax: 8192,
  addressConnectionsMax: 1024,
  waitingBytesMax: 512 * 1024 * 1024,
}

const sweepMs = 1000

/** Throws a TypeError for a bound that is no whole number from 1 on, or a name that is none. */
export function toConnectionLimits(given: Partial<ConnectionLimits> = {}): ConnectionLimits {
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(connectionLimits, name)) throw new TypeError(`There is no bound of connections \`${name}\`.`)
    if (!Number.isSafeInteger(value) || value < 1) throw new TypeError(`\`${name}\` is a whole number from 1 on.`)
  }
  return { ...connectionLimits, ...given }
}

/** The bounds that Node keeps by itself. To be set before the server listens: then it begins to look at its clock. */
export function setTimeouts(server: Server, limits: ConnectionLimits): void {
  const { headMs, requestMs, idleMs, headerBytesMax, connectionsMax } = limits
  Object.assign(server, {
    headersTimeout: Math.min(headMs, requestMs),
    requestTimeout: requestMs,
    keepAliveTimeout: idleMs,
    connectionsCheckingInterval: Math.ceil(Math.min(5000, headMs / 4)),
    maxHeaderSize: headerBytesMax,
    // Node leaves out those above its own bound and says nothing; here the request is refused.
    maxHeadersCount: 0,
    maxConnections: connectionsMax,
    // Node would answer in a form of its own.
    requireHostHeader: false,
  })
}

export interface Guard {
  /** What an operator may want to watch. */
  figures(): { readonly open: number; readonly refused: number; readonly givenUp: number }
  /** Whether answers wait for callers to take them. */
  isSending(): boolean
  stop(): void
}

/**
 * Keeps the bounds that Node does not know: connections of one address, and answers that nobody takes. `refuse` is
 * called with connections above the first, before anything of them is read.
 */
export function guardConnections(
  server: Server,
  limits: ConnectionLimits,
  { isProxy, refuse }: { isProxy(address: string): boolean; refuse(socket: Socket): void },
): Guard {
  const sockets = new Set<Socket>()
  const counts = new Map<string, number>()
  let refused = 0
  server.on('drop', () => void (refused += 1))
  const listeners = server.listeners('connection') as ((this: Server, socket: Socket) => void)[]
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress
    // Gone before anybody looked.
    if (address === undefined) return void socket.destroy()
    if (!isProxy(address)) {
      const key = toLimitKey(address)
      const count = (counts.get(key) ?? 0) + 1
      if (count > limits.addressConnectionsMax) {
        refused += 1
        return refuse(socket)
      }
      counts.set(key, count)
      socket.once('close', () => {
        const left = counts.get(key)! - 1
        if (left > 0) counts.set(key, left)
        else counts.delete(key)
      })
    }
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
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

/** What is known of a connection on which bytes wait. */
interface Waiting {
  readonly deadlineMs: number
  /** All that was ever to be sent on it. */
  readonly bytesWritten: number
}

/** Ends connections whose callers take too slowly, and where too much waits in all those that took nothing for longest. */
function createSweep(sockets: ReadonlySet<Socket>, limits: ConnectionLimits, onGivenUp: () => void): () => void {
  const { answerMs, answerBytesPerSecondMin, waitingBytesMax } = limits
  /** Who was given nothing more for longest is first. */
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
      // Who takes one answer after the other is given time for each, and saves up none.
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
