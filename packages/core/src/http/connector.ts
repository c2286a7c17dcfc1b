import net from 'node:net'
import tls, { type SecureContext } from 'node:tls'
import type { buildConnector } from 'undici'
import type { NameResolver } from './outgoing.ts'
import type { AddressRules } from './public-addresses.ts'
import { isLocalName, requireAllowed, toHost, toLiteral, type CheckedAddress } from './request-target.ts'

/** What every outgoing connection is checked with. */
export interface Guard {
  readonly resolver: NameResolver
  readonly rules: AddressRules
  readonly secureContext: SecureContext | undefined
}

/** Opens sockets for a client of undici, and can cancel that. */
export interface Connector {
  readonly connect: buildConnector.connector
  /** Cancels a connection attempt in progress. */
  abort(): void
}

/** Trusts the given certificates in addition to the system's; undefined without any. Throws if one cannot be parsed. */
export function toSecureContext(ca: readonly string[]): SecureContext | undefined {
  if (ca.length === 0) return undefined
  // Includes what NODE_EXTRA_CA_CERTS and --use-system-ca added. Node.js before 22.15 cannot list those.
  const known = tls.getCACertificates?.('default') ?? tls.rootCertificates
  return tls.createSecureContext({ ca: [...known, ...ca] })
}

/**
 * Resolves the host once per connection, checks every address, and connects only to the checked addresses, so that a
 * second DNS answer cannot redirect it. A forbidden connection fails with an `invalid_request` that names `url`.
 */
export function createConnector(guard: Guard): Connector {
  let isAborted = false
  let connecting: net.Socket | undefined

  async function begin(options: buildConnector.Options, callback: buildConnector.Callback): Promise<void> {
    const host = toHost(options)
    try {
      const addresses = await findAllowed(guard, host)
      // After a cancellation the caller already has its error.
      if (isAborted) return
      connecting = openSocket(guard, options, host, addresses)
    } catch (error) {
      return callback(error as Error, null)
    }
    whenConnected(connecting, options.protocol, callback)
  }

  return {
    connect: (options, callback) => void begin(options, callback),
    abort() {
      isAborted = true
      connecting?.destroy()
    },
  }
}

async function findAllowed({ resolver, rules }: Guard, host: string): Promise<CheckedAddress[]> {
  const addresses = await lookUp(resolver, host).catch((error: unknown) => {
    // Do not reveal what a local name resolves to.
    if (isLocalName(host)) return []
    throw error
  })
  requireAllowed(host, addresses, rules, 'url')
  return addresses
}

/** Resolves all addresses of a host. An IP literal is its own address. */
export async function lookUp(resolver: NameResolver, host: string): Promise<CheckedAddress[]> {
  const literal = toLiteral(host)
  if (literal.length > 0) return literal
  const addresses = await resolver.lookup(host)
  if (addresses.length === 0) throw Object.assign(new Error('The name has no address.'), { code: 'ENODATA' })
  return addresses
}

/**
 * Connects to the first address that responds. IP literals are not resolved; names resolve only to the checked
 * addresses.
 */
function openSocket(
  { secureContext }: Guard,
  { protocol, port }: buildConnector.Options,
  host: string,
  addresses: readonly CheckedAddress[],
): net.Socket {
  const isSecure = protocol === 'https:'
  const wanted = {
    host,
    port: addresses[0]!.port ?? Number(port || (isSecure ? 443 : 80)),
    lookup: toLookup(addresses) as never,
    noDelay: true,
    keepAlive: true,
  }
  if (!isSecure) return net.connect(wanted)
  const servername = net.isIP(host) === 0 ? host : ''
  return tls.connect({
    ...wanted,
    secureContext,
    servername,
    ALPNProtocols: ['http/1.1'],
    // Also when NODE_TLS_REJECT_UNAUTHORIZED is set.
    rejectUnauthorized: true,
  })
}

/** Calls back once: with the connected socket, or with the error that prevented the connection. */
function whenConnected(socket: net.Socket, protocol: string, callback: buildConnector.Callback): void {
  let isSettled = false
  const settle = (...answer: Parameters<buildConnector.Callback>) => {
    if (!isSettled) callback(...answer)
    isSettled = true
  }
  socket.once(protocol === 'https:' ? 'secureConnect' : 'connect', () => settle(null, socket))
  // The listener stays for the socket's whole life: an error without a listener would end the process.
  socket.on('error', (error) => settle(error, null))
}

/** A lookup function that returns the checked addresses, so that a second DNS answer cannot differ (DNS rebinding). */
function toLookup(addresses: readonly CheckedAddress[]) {
  const found = addresses.map(({ address }) => ({ address, family: address.includes(':') ? 6 : 4 }))
  return (_host: string, options: { all?: boolean }, callback: (...answer: unknown[]) => void) => {
    if (options.all) callback(null, found)
    else callback(null, found[0]!.address, found[0]!.family)
  }
}
