import { useLocation } from 'preact-iso'

/**
 * The path of the node's public URL: empty, or such as `/skills`. The addresses in this app leave the path out;
 * `below-node.tsx` adds it to links and removes it from the location.
 */
export const nodePath = new URL(import.meta.url).pathname.replace(/\/[^/]+\/[^/]+$/, '')

/** The URL of the node, without a trailing slash. */
export const nodeUrl = location.origin + nodePath

/** The main pages, with their titles. */
export const places = [
  ['/', 'Skills'],
  ['/packs', 'Packs'],
  ['/trending', 'Trending'],
  ['/users', 'Authors'],
  ['/agents', 'Agents'],
  ['/requests', 'Requests'],
  ['/external', 'External'],
  ['/docs', 'Docs'],
] as const

/** The addresses of pages. Untrusted names are encoded here and nowhere else. */
export const addresses = {
  skill: (fullName: string, tab = '') =>
    `/skills/${fullName.split('/').map(encodeURIComponent).join('/')}${tab && `/${tab}`}`,
  pack: (slug: string) => `/packs/${encodeURIComponent(slug)}`,
  packsOf: (username: string) => `/packs?curator=${encodeURIComponent(username)}`,
  user: (username: string) => `/users/${encodeURIComponent(username)}`,
  agent: (agentKey: string) => `/agents/${encodeURIComponent(agentKey)}`,
  organisation: (name: string, section = '') => `/organisations/${encodeURIComponent(name)}${section && `/${section}`}`,
  review: (id: string) => `/account/reviews/${encodeURIComponent(id)}`,
  webhook: (id: string) => `/account/webhooks/${encodeURIComponent(id)}`,
  takedown: (id: string) => `/takedowns/${encodeURIComponent(id)}`,
  access: (username: string) => `/admin/users/${encodeURIComponent(username)}`,
  mirror: (upstream: string) => `/admin/mirrors/${encodeURIComponent(upstream)}`,
}

/**
 * The path of a URL of this node, relative to the URL of the node. Pages load pictures by path, because a page may only
 * load those of its own host name, and the node may have several host names.
 */
export const toOwnPath = (address: string): string => new URL(address, location.href).pathname.slice(nodePath.length)

type Fields = Record<string, string | undefined>

/**
 * The query fields of the address, and a function to change some of them, so that every state of a page can be linked
 * and is in the history.
 */
export function useAddress(): { fields: Record<string, string>; change(some: Fields, replace?: boolean): void } {
  const { path, query, route } = useLocation()
  return { fields: query, change: (some, replace) => route(toAddress(path, { ...query, ...some }), replace) }
}

/** An address of this node; fields without a value are left out. */
export function toAddress(path: string, fields: Fields = {}): string {
  const given = Object.entries(fields).filter((field): field is [string, string] => Boolean(field[1]))
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`
}
