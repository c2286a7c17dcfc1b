import { createClient } from '@skillstead/client'

/**
 * The node that served this page, called like any other caller would. The session lives in a cookie that no script can
 * read; the header says that it is one of the node's own pages that asks. What is looked at here counts as no download.
 * Nothing is tried again in silence, which may take a minute: the page says what is the matter, and when it goes on.
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
