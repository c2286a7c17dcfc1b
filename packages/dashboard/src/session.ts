import { api, apiWith, isUnauthorized, postToNode, queries, reloadData, useData } from './api.ts'
import { site } from './site.ts'

type Me = Awaited<ReturnType<typeof api.getMe>>

const sessionKey = ['session'] as const
const closedKey = ['closed'] as const
const readSession = async () => (await api.getSession()).user

function useSession() {
  return useData(sessionKey, readSession)
}

/** The signed-in user: undefined while unknown, null for a visitor. */
export function useMe(): Me | null | undefined {
  return useSession().data
}

/** The error of the request for the signed-in user, and a function to retry it. */
export function useSessionFailure(): { error: unknown; retry: () => unknown } | undefined {
  const { data, error, refetch } = useSession()
  return error && data === undefined ? { error, retry: refetch } : undefined
}

/** Whether the node requires a login for everything. */
export function useIsClosed(): boolean {
  return useData(closedKey, readClosed, false).data === true
}

/** Whether the node rejects a guest's request that every public node accepts. */
async function readClosed(): Promise<boolean> {
  try {
    await api.listPacks({ limit: 1 })
    return false
  } catch (error) {
    if (isUnauthorized(error)) return true
    throw error
  }
}

/** Watches responses for an expired session, a private node, and a node that is available again. */
export function watchSession(): void {
  queries.getQueryCache().subscribe((event) => {
    if (event.type !== 'updated' || isAboutSession(event.query.queryKey)) return
    if (event.action.type === 'error' && isUnauthorized(event.action.error)) void learnWhy()
    const isKnown = queries.getQueryState(sessionKey)?.status !== 'error'
    if (event.action.type === 'success' && !isKnown) void reloadData(...sessionKey)
  })
}

function isAboutSession([first]: readonly unknown[]): boolean {
  return first === sessionKey[0] || first === closedKey[0]
}

async function learnWhy(): Promise<void> {
  if (queries.getQueryData(sessionKey)) await reloadData(...sessionKey)
  const me = await queries.fetchQuery({ queryKey: sessionKey, queryFn: readSession })
  if (me === null) await queries.fetchQuery({ queryKey: closedKey, queryFn: readClosed })
}

/** Exchanges an API key for a session. Throws `unauthorized` for an invalid key. */
export async function signIn(key: string): Promise<void> {
  await apiWith({ apiKey: key }).createSession()
  await clearCachedData()
}

/** Ends the session, and the one of the identity provider that opened it. */
export async function signOut(): Promise<void> {
  if (site.signIn === undefined) await api.deleteSession()
  else {
    const { location: provider } = await postToNode<{ location: string | null }>('/logout', {})
    if (provider !== null) location.assign(provider)
  }
  await clearCachedData()
}

/** Clears the cached data, which must not be shown to the next user. */
async function clearCachedData(): Promise<void> {
  queries.setQueryData(closedKey, false)
  queries.removeQueries({ predicate: ({ queryKey }) => !isAboutSession(queryKey) })
  await reloadData(...sessionKey)
}
