import { isPlainHost, type Addresses } from './addresses.ts'
import type { Call } from './call.ts'

/** The URL of a node for links in its responses, without a trailing slash; empty if unknown. */
export type AddressOf = (call: Call) => string

/** The public URL of a node, in parts. */
export interface PublicUrl {
  readonly origin: string
  /** The path below which a proxy publishes the node: empty, or such as `/skills`. */
  readonly path: string
}

/**
 * Parses the public URL of a node. Throws a TypeError for any other text. The path becomes part of pages, cookies and
 * headers, and proxies decode escapes, so only plain characters are allowed in it.
 */
export function parsePublicUrl(text: string): PublicUrl {
  const url = URL.parse(text)
  const problem = url === null ? 'is not a URL' : findUrlProblem(url, text)
  if (problem !== undefined) {
    const shown = url === null || url.password === '' ? text : 'with a password'
    throw new TypeError(
      `The public URL (${shown}) ${problem}. Write the address that clients use, such as ` +
        'https://skills.example.com or https://intranet.example.com/skills.',
    )
  }
  return { origin: url!.origin, path: url!.pathname.replace(/\/+$/, '') }
}

function findUrlProblem({ protocol, username, password, pathname }: URL, text: string): string | undefined {
  if (protocol !== 'http:' && protocol !== 'https:') return 'begins with neither https:// nor http://'
  if (username !== '' || password !== '') return 'has a username or password'
  if (text.includes('#')) return 'has a fragment'
  if (text.includes('?')) return 'has a query'
  if (!/^(?:\/[\w.~-]+)*\/*$/.test(pathname)) return 'has a path with other characters than letters, digits and -._~'
  // A proxy that removes `/packs` makes the index of a pack look like the index of an owner.
  if (/^\/(?:packs|t)(?:\/|$)/.test(pathname)) return 'has a path at which the node has indexes'
  return undefined
}

/**
 * Returns a function that finds the node's URL for a request: the URL that the operator configured, that a trusted
 * proxy reports, or that the caller used if it is an IP address or `localhost`. Other host names are not trusted, and
 * the socket's own address must not be disclosed. If the URL is unknown, links are paths, which cannot point to another
 * host.
 */
export function createAddressOf(publicUrl: PublicUrl | undefined, addresses: Addresses): AddressOf {
  if (publicUrl !== undefined) {
    const configured = publicUrl.origin + publicUrl.path
    return () => configured
  }
  // The last host is cached: clients of a node use few hosts, usually one, and parsing a host costs as much as the rest
  // of a cached response.
  let last: { host: string | null; origin: string } = { host: null, origin: '' }
  return (call) => {
    const told = addresses.originOf(call.request)
    if (told !== undefined) return told
    const host = call.header('host')
    if (host !== last.host) last = { host, origin: toPlainOrigin(host) }
    return last.origin
  }
}

function toPlainOrigin(host: string | null): string {
  const origin = URL.parse(`http://${host}`)
  return origin !== null && isPlainHost(origin.hostname) ? origin.origin : ''
}
