import { createClient } from '@skillstead/client'

/**
 * The API of the node that served this page. The session is in a cookie that scripts cannot read; the header proves
 * that the request comes from one of the node's own pages. Reads do not count as downloads. There are no silent
 * retries, which could take a minute: the page shows the error and when it continues.
 */
export function apiWith(means: { apiKey?: string; caseToken?: string; counts?: false }) {
  const node = { baseUrl: location.origin, client: 'skillstead-dashboard', fetch: fetchAsPage, retries: 0 }
  return createClient({ ...node, ...means })
}

export const api = apiWith({ counts: false })

function fetchAsPage(address: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const headers = { ...(init.headers as Record<string, string>), 'x-skillstead-session': '1' }
  return fetch(address, { ...init, credentials: 'same-origin', headers })
}
