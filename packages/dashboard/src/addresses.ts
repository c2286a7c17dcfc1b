/** The addresses of pages. Untrusted names are encoded here and nowhere else. */
export const addresses = {
  skill: (fullName: string, tab = '') =>
    `/skills/${fullName.split('/').map(encodeURIComponent).join('/')}${tab && `/${tab}`}`,
  pack: (slug: string) => `/packs/${encodeURIComponent(slug)}`,
  packsOf: (username: string) => `/packs?curator=${encodeURIComponent(username)}`,
  user: (username: string) => `/users/${encodeURIComponent(username)}`,
  agent: (agentKey: string) => `/agents/${encodeURIComponent(agentKey)}`,
  webhook: (id: string) => `/account/webhooks/${encodeURIComponent(id)}`,
  takedown: (id: string) => `/takedowns/${encodeURIComponent(id)}`,
  mirror: (upstream: string) => `/admin/mirrors/${encodeURIComponent(upstream)}`,
}

/**
 * The path of a URL on this node: pages may be open under another host name of the node, and may only load its own
 * pictures.
 */
export function toOwnPath(address: string): string {
  return new URL(address, location.href).pathname
}
