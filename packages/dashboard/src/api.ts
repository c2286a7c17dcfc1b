import { createClient, RegistryError } from '@skillstead/client'
import { isResponseCode, readFields, type SkillDetails } from '@skillstead/protocol'
import { nodePath, nodeUrl } from './addresses.ts'
import { closeShareLink, toShareHeaders } from './share-link.ts'
import { QueryClient, keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/preact-query'

/**
 * The API of the node that served this page. The session is in a cookie that scripts cannot read; the header proves
 * that a page of the node sent the request. Reads do not count as downloads. Requests are not retried silently, which
 * could take a minute: the page shows the error and the time of the next attempt.
 */
export const apiWith = (means: { apiKey?: string; caseToken?: string; counts?: false }) =>
  createClient({ baseUrl: nodeUrl, client: 'skillstead-dashboard', fetch: fetchAsPage, retries: 0, ...means })

export const api = apiWith({ counts: false })

async function fetchAsPage(address: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const own = { 'x-skillstead-session': '1', 'x-skillstead-page': namePage() }
  const send = (more?: Record<string, string>) =>
    fetch(address, {
      ...init,
      credentials: 'same-origin',
      headers: { ...(init.headers as Record<string, string>), ...own, ...more },
    })
  // Only reads send the token of a share link: with it the node would refuse writes, even those of the owner.
  const share = (init.method ?? 'GET') === 'GET' ? toShareHeaders(String(address)) : {}
  const response = await send(share)
  if (response.status !== 404 || Object.keys(share).length === 0) return response
  // The share link may have ended. The user may be allowed to read the same without it.
  const other = await send()
  if (!other.ok) return response
  closeShareLink()
  return other
}

let page = { address: '', name: '' }

/** The name of the open page, new for each address: the node counts all reads with one name as one request. */
function namePage(): string {
  const address = location.pathname + location.search
  // The name need not be secret: `crypto.randomUUID` exists on encrypted pages only.
  if (page.address !== address) page = { address, name: Math.random().toString(36).slice(2) || '0' }
  return page.name
}

/** Posts JSON to a path of the node outside of its API, and returns the JSON answer. Throws RegistryError. */
export async function postToNode<Answer>(path: `/${string}`, body: object): Promise<Answer> {
  const headers = { 'content-type': 'application/json' }
  return JSON.parse(await readFromNode(path, { method: 'POST', headers, body: JSON.stringify(body) }))
}

/** Reads a text of the node outside of its API. Throws RegistryError. */
export async function readFromNode(path: `/${string}`, init?: RequestInit): Promise<string> {
  const response = await fetchAsPage(nodePath + path, init).catch(() => {
    throw new RegistryError('upstream_failed', 'The server cannot be reached. Check your connection.')
  })
  const text = await response.text()
  if (response.ok) return text
  throw toProblemError(response, text)
}

/** Reads a file of the API with the session and the share link of this page. Throws RegistryError. */
export async function readFile(path: string): Promise<Blob> {
  const response = await fetchAsPage(nodePath + path)
  if (response.ok) return response.blob()
  throw toProblemError(response, await response.text())
}

function toProblemError({ status, headers }: Response, text: string): RegistryError {
  const retryAfterSeconds = Number(headers.get('retry-after')) || undefined
  const { code, detail, requestId: id } = readFields(text)
  // The response is not from the node: for example, it is the page of a proxy.
  if (!isResponseCode(code) || typeof detail !== 'string')
    return new RegistryError('upstream_failed', `The server returned ${status} without a reason.`)
  return new RegistryError(code, detail, { requestId: typeof id === 'string' ? id : undefined, retryAfterSeconds })
}

/**
 * Responses are cached for 30 s, so that going back and retyping cost no request. The browser's online state is
 * ignored, because the node may be on this machine.
 */
export const queries = new QueryClient({
  defaultOptions: {
    queries: { staleTime: 30_000, gcTime: 300_000, retry: false, refetchOnWindowFocus: false, networkMode: 'always' },
    mutations: { networkMode: 'always' },
  },
})

export const isUnauthorized = (error: unknown): boolean =>
  error instanceof RegistryError && error.code === 'unauthorized'

interface PageData {
  readonly details: SkillDetails
  readonly version?: string
  readonly skillMd?: string
}

/**
 * Caches the skill that the node wrote into the page. The node writes what guests see, so the details are loaded again
 * while they are shown. Call this before anything is rendered.
 */
export function takePageData(): void {
  const written = document.querySelector('#page-data')
  if (!written) return
  written.remove()
  const { details, version, skillMd }: PageData = JSON.parse(written.textContent)
  const { fullName, latestVersion } = details
  queries.setQueryData(['skill', fullName, 'details', version], details, { updatedAt: 1 })
  if (skillMd === undefined) return
  const size = details.files.find(({ path }) => path === 'SKILL.md')!.size
  queries.setQueryData(['skill', fullName, 'skill.md', version ?? latestVersion], { size, text: skillMd })
}

/** Data of a page: loaded when the key is new, and shared by all components with the same key. */
export const useData = <T>(key: readonly unknown[], load: () => Promise<T>, enabled = true): UseQueryResult<T> =>
  useQuery({ queryKey: key, queryFn: load, enabled })

/** Like `useData`, but shows the previous data until new data arrives, for lists that change while the user types. */
export const useKeptData = <T>(key: readonly unknown[], load: () => Promise<T>): UseQueryResult<T> =>
  useQuery({ queryKey: key, queryFn: load, placeholderData: keepPreviousData })

/** Reloads all data whose key begins with these parts. */
export const reloadData = (...key: unknown[]): Promise<void> => queries.invalidateQueries({ queryKey: key })

/**
 * After a change on the page at `path`, loads the data of the page again, and all other data when it is next shown. If
 * the user is on another page now, only the session is loaded at once: what the page at `path` showed may be deleted.
 */
export async function reloadAfterChange(path: string): Promise<void> {
  const isLeft = location.pathname !== path
  await queries.invalidateQueries({ refetchType: isLeft ? 'none' : 'active' })
  if (isLeft) await reloadData('session')
}
