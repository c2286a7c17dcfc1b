import { toFields } from '@skillstead/protocol'
import type { LookupFunction, Socket } from 'node:net'
import type { SecureContext } from 'node:tls'
import { LRUCache } from 'lru-cache'
import { buildConnector, EnvHttpProxyAgent, Pool, type Dispatcher } from 'undici'
import type { Cancellation } from './cancellation.ts'
import { lookUpHost, type NameResolver } from './name-resolver.ts'
import { toProxyError, toTunnelHost, type ProxySettings } from './proxy.ts'
import type { AddressRules } from './public-addresses.ts'
import { isClosed } from './request-failures.ts'
import { isLocalName, requireAllowed, toSocketHost, type CheckedAddress } from './request-target.ts'

/** Restricts connections to allowed addresses: `resolver` finds the addresses of a host, `rules` decide on each. */
export interface Guard {
  readonly resolver: NameResolver
  readonly rules: AddressRules
}

interface PoolOptions {
  /** Default: any address is allowed, and the operating system resolves names. */
  readonly guard: Guard | undefined
  readonly secureContext: SecureContext | undefined
  /** Maximum number of connections to one origin. Default: unlimited. */
  readonly connectionsMax: number | undefined
  readonly proxy: ProxySettings | undefined
}

/** A request to send. Header names are lower-case. */
export interface PooledRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Cancels the request, and a connection attempt that the request started. */
  readonly cancellation: Cancellation
  /** Closes the connection after the response. */
  readonly reset?: boolean
}

type SentRequest = PooledRequest & { readonly path: string; readonly onInfo: () => void }

const headerBytesMax = 16 * 1024
/** Idle connections are closed after this time; a shorter keep-alive time from the server wins. */
const keepAliveMs = 4000
/**
 * Maximum number of origins with open connections. For one more origin, the connections of the least recently used
 * origin are closed.
 */
const originsMax = 256
/** Maximum number of interim responses (RFC 9110, section 15.2) before the final response. */
const interimMax = 16

/**
 * If only the status of a response is needed, its body is read up to this size and for this time in milliseconds, so
 * that the connection can be reused. The connection of a larger or slower body is closed.
 */
const drainedBytesMax = 16 * 1024
const drainMs = 250

/**
 * Keep-alive connections of undici by origin. A guarded pool resolves the host once per connection, checks every
 * address and connects only to checked addresses, so that a second DNS answer cannot redirect the connection (DNS
 * rebinding). A forbidden connection fails with an `invalid_request` that names `url`. A guarded pool asks a proxy for
 * a tunnel to a checked address, so that the proxy cannot resolve the host to another address.
 */
export class ConnectionPool {
  readonly #guard: Guard | undefined
  readonly #tls: buildConnector.BuildOptions
  readonly #connector: buildConnector.connector
  readonly #connectionsMax: number | undefined
  readonly #proxy: ProxySettings | undefined
  readonly #pools = new LRUCache<string, Dispatcher>({ max: originsMax, dispose: (pool) => void pool.close() })
  /**
   * The cancellation of the request that is being started: undici calls the connector at once, but does not pass the
   * request to the connector.
   */
  #starting: Cancellation | undefined

  constructor({ guard, secureContext, connectionsMax, proxy }: PoolOptions) {
    this.#guard = guard
    this.#proxy = proxy
    this.#connectionsMax = connectionsMax
    this.#tls = {
      allowH2: false,
      ...(secureContext && { secureContext }),
      // Certificates of guarded hosts are verified even if NODE_TLS_REJECT_UNAUTHORIZED is 0.
      ...(guard && { rejectUnauthorized: true }),
    }
    this.#connector = buildConnector(this.#tls)
  }

  /** Sends a request and resolves with the start of its response. */
  request(url: URL, request: PooledRequest): Promise<Dispatcher.ResponseData> {
    const isSafe = request.method === 'GET' || request.method === 'HEAD'
    return this.#send(url, request, isSafe, (pool, options) =>
      pool.request({ ...options, signal: request.cancellation.toSignal() }),
    )
  }

  /**
   * Sends a request that may take effect twice, and resolves with the status. Creates no stream, which saves a third of
   * the CPU time.
   */
  requestStatus(url: URL, request: PooledRequest): Promise<number> {
    return this.#send(url, request, true, (pool, options) => {
      const status = Promise.withResolvers<number>()
      pool.dispatch(options, new StatusHandler(status, options))
      return status.promise
    })
  }

  /**
   * Sends a request with `start`. A repeatable request is sent once more if the server closes a reused connection
   * during the request, as servers do with idle connections. Other requests are not repeated, because the server may
   * have processed them (RFC 9110, section 9.2.2).
   */
  async #send<T>(
    url: URL,
    request: PooledRequest,
    isRepeatable: boolean,
    start: (pool: Dispatcher, options: SentRequest & { readonly origin: string }) => Promise<T>,
  ): Promise<T> {
    let interims = 0
    const onInfo = () => {
      interims += 1
      if (interims > interimMax) throw new Error(`The server sent over ${interimMax} interim responses (1xx).`)
    }
    const options = { ...request, origin: url.origin, path: url.pathname + url.search, onInfo }
    const send = () => {
      this.#starting = request.cancellation
      try {
        return start(this.#poolOf(url.origin), options)
      } finally {
        this.#starting = undefined
      }
    }
    try {
      return await send()
    } catch (error) {
      const isStale = isRepeatable && interims === 0 && isClosed(error) && toFields(error)['wasUsed']
      if (!isStale) throw error
      return await send()
    }
  }

  /** Closes all connections, and fails the requests in progress. */
  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.destroy()))
  }

  #poolOf(origin: string): Dispatcher {
    const open = this.#pools.get(origin)
    if (open) return open
    const pool = this.#openPool(origin)
    this.#pools.set(origin, pool)
    return pool
  }

  #openPool(origin: string): Dispatcher {
    const connect: buildConnector.connector = (options, callback) => void this.#connect(options, callback)
    const settings = {
      connect,
      connections: this.#connectionsMax ?? null,
      allowH2: false,
      keepAliveTimeout: keepAliveMs,
      maxHeaderSize: headerBytesMax,
      // 0: no timeouts of undici, because the HTTP client sets the deadlines of each request.
      headersTimeout: 0,
      bodyTimeout: 0,
    }
    if (!this.#proxy) return new Pool(origin, settings)
    // A guarded pool uses a tunnel even for plain HTTP: without a tunnel, the proxy would resolve the host.
    const isTunnel = this.#guard !== undefined || origin.startsWith('https:')
    return new EnvHttpProxyAgent({
      ...settings,
      ...this.#proxy,
      proxyTls: this.#tls,
      proxyTunnel: isTunnel,
      factory: (to, options) => {
        const open = (options as { connect: buildConnector.connector }).connect
        const isDirect = open === connect
        return new Pool(to, { ...settings, connect: isDirect ? connect : this.#atProxy(open, isTunnel) })
      },
    })
  }

  /**
   * A connector that connects to the proxy with the given connector of undici, which opens a tunnel if `isTunnel`.
   * Converts errors with {@link toProxyError}.
   */
  #atProxy(open: buildConnector.connector, isTunnel: boolean): buildConnector.connector {
    const openSocket = (options: buildConnector.Options) =>
      new Promise<Socket>((resolve, reject) => {
        open(options, (error, socket) => (error ? reject(toProxyError(error)) : resolve(socket)))
      })
    const connect = async (options: buildConnector.Options, callback: buildConnector.Callback): Promise<void> => {
      const opening = isTunnel ? this.#openTunnel(openSocket, options) : openSocket(options)
      const opened = await opening.catch((error: Error) => error)
      if (opened instanceof Error) callback(opened, null)
      else callback(null, opened)
    }
    return (options, callback) => void connect(options, callback)
  }

  async #openTunnel(
    open: (options: buildConnector.Options) => Promise<Socket>,
    options: buildConnector.Options,
  ): Promise<Socket> {
    const cancellation = this.#starting
    const { protocol, hostname, port } = options
    const host = toSocketHost({ hostname })
    const addresses = this.#guard ? await findAllowedAddresses(this.#guard, host) : [{ address: host, port }]
    cancellation?.throwIfCancelled()
    const { address, port: found } = addresses[0]!
    // With `http:`, undici adds no TLS to the tunnel. The code below adds TLS with the settings of this pool.
    const socket = await open({ ...options, ...toTunnelHost(address, found ?? port, protocol), protocol: 'http:' })
    cancellation?.onCancel((reason) => socket.destroy(reason))
    socket.on('error', (error) => Object.assign(error, { wasUsed: socket.bytesRead > 0 }))
    if (protocol !== 'https:') return socket
    return new Promise((resolve, reject) => {
      const secured = { ...options, httpSocket: socket }
      this.#connector(secured, (error, opened) => (error ? reject(error) : resolve(opened)))
    })
  }

  async #connect(options: buildConnector.Options, callback: buildConnector.Callback): Promise<void> {
    const cancellation = this.#starting
    try {
      const [connector, target] = this.#guard
        ? await this.#findGuarded(this.#guard, options)
        : [this.#connector, options]
      cancellation?.throwIfCancelled()
      // The cast is needed because undici declares no return value, but the connector returns the socket.
      const socket = connector(target, callback) as unknown as Socket
      cancellation?.onCancel((reason) => socket.destroy(reason))
      socket.on('error', (error) => Object.assign(error, { wasUsed: socket.bytesRead > 0 }))
    } catch (error) {
      callback(error as Error, null)
    }
  }

  async #findGuarded(
    guard: Guard,
    options: buildConnector.Options,
  ): Promise<[buildConnector.connector, buildConnector.Options]> {
    const host = toSocketHost(options)
    const addresses = await findAllowedAddresses(guard, host)
    const port = String(addresses[0]!.port ?? options.port)
    const connector = buildConnector({ ...this.#tls, lookup: toLookup(addresses) })
    return [connector, { ...options, host, hostname: host, port }]
  }
}

async function findAllowedAddresses({ resolver, rules }: Guard, host: string): Promise<CheckedAddress[]> {
  const addresses = await lookUpHost(resolver, host).catch((error: unknown) => {
    // Refuse a local name also if its lookup fails, so that the error does not reveal whether the name resolves.
    if (isLocalName(host)) return []
    throw error
  })
  requireAllowed(host, addresses, rules, 'url')
  return addresses
}

/** A lookup function that returns only the checked addresses. */
function toLookup(addresses: readonly CheckedAddress[]): LookupFunction {
  const found = addresses.map(({ address }) => ({ address, family: address.includes(':') ? 6 : 4 }))
  return (_host, { all }, callback) => {
    if (all) callback(null, found)
    else callback(null, found[0]!.address, found[0]!.family)
  }
}

/** Reads only the status of a response, and drains its body. */
class StatusHandler implements Dispatcher.DispatchHandler {
  readonly #status: PromiseWithResolvers<number>
  readonly #request: SentRequest
  #timer: NodeJS.Timeout | undefined
  #bytes = 0

  constructor(status: PromiseWithResolvers<number>, request: SentRequest) {
    this.#status = status
    this.#request = request
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#request.cancellation.onCancel((reason) => controller.abort(reason))
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    if (status < 200) return this.#request.onInfo()
    this.#status.resolve(status)
    this.#timer = setTimeout(() => controller.abort(new Error('The response body is too slow to drain.')), drainMs)
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    this.#bytes += chunk.length
    if (this.#bytes > drainedBytesMax) controller.abort(new Error('The response body is too long to drain.'))
  }

  onResponseEnd(): void {
    clearTimeout(this.#timer)
  }

  /** Rejects; an error after the status was received has no effect. */
  onResponseError(_controller: unknown, error: Error): void {
    clearTimeout(this.#timer)
    this.#status.reject(error)
  }
}
