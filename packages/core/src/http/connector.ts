import net from 'node:net'
import tls, { type SecureContext } from 'node:tls'
import type { buildConnector } from 'undici'
import type { NameResolver } from './outgoing.ts'
import type { AddressRules } from './public-addresses.ts'
import { isLocalName, requireAllowed, toHost, toLiteral, type CheckedAddress } from './request-target.ts'

/** What every connection to the outside goes by. */
export interface Guard {
  readonly resolver: NameResolver
  readonly rules: AddressRules
  readonly secureContext: SecureContext | undefined
}

/** How a client of undici connects, and how it is told to let that be. */
export interface Connector {
  readonly connect: buildConnector.connector
  /** Gives up a connection that is being made. */
  abort(): void
}

/** Trust in certificates besides the system's; undefined for the system's alone. Throws where one cannot be read. */
export function toSecureContext(ca: readonly string[]): SecureContext | undefined {
  if (ca.length === 0) return undefined
  // Also what NODE_EXTRA_CA_CERTS and --use-system-ca added; Node.js before 22.15 does not tell.
  const known = tls.getCACertificates?.('default') ?? tls.rootCertificates
  return tls.createSecureContext({ ca: [...known, ...ca] })
}

/**
 * The host is looked up once for each connection, every address of it is checked, and those are connected to and no
 * others. A connection that is not allowed fails with an `invalid_request` that names `url`.
 */
export function createConnector(guard: Guard): Connector {
  let isAborted = false
  let connecting: net.Socket | undefined

  async function begin(options: buildConnector.Options, callback: buildConnector.Callback): Promise<void> {
    const host = toHost(options)
    try {
      const addresses = await findAllowed(guard, host)
      // Whoever gave up has been told already.
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
    // What a local name leads to is not to be known.
    if (isLocalName(host)) return []
    throw error
  })
  requireAllowed(host, addresses, rules, 'url')
  return addresses
}

/** All addresses of a host, an address being its own. */
export async function lookUp(resolver: NameResolver, host: string): Promise<CheckedAddress[]> {
  const literal = toLiteral(host)
  if (literal.length > 0) return literal
  const addresses = await resolver.lookup(host)
  if (addresses.length === 0) throw Object.assign(new Error('There is no address.'), { code: 'ENODATA' })
  return addresses
}

/** The first of the addresses that answers. Literals are not looked up, and names only in what was checked. */
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
    // Whatever the environment says.
    rejectUnauthorized: true,
  })
}

/** Calls back once: with the socket when it is ready to be written to, or with why it never was. */
function whenConnected(socket: net.Socket, protocol: string, callback: buildConnector.Callback): void {
  let isSettled = false
  const settle = (...answer: Parameters<buildConnector.Callback>) => {
    if (!isSettled) callback(...answer)
    isSettled = true
  }
  socket.once(protocol === 'https:' ? 'secureConnect' : 'connect', () => settle(null, socket))
  // It stays for the socket's whole life, so that no error of it is ever without a listener.
  socket.on('error', (error) => settle(error, null))
}

/** Answers with what was checked, so that a second question cannot be answered differently. */
function toLookup(addresses: readonly CheckedAddress[]) {
  const found = addresses.map(({ address }) => ({ address, family: address.includes(':') ? 6 : 4 }))
  return (_host: string, options: { all?: boolean }, callback: (...answer: unknown[]) => void) => {
    if (options.all) callback(null, found)
    else callback(null, found[0]!.address, found[0]!.family)
  }
}
