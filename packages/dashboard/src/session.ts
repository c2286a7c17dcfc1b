import { api, apiWith, isUnauthorized, postToNode, queries, reloadData, useData } from './api.ts'
import { closeShareLink } from './share-link.ts'
import { site } from './site.ts'

/** The signed-in user with the number of notices in the inbox. */
type Me = Awaited<ReturnType<typeof api.getMe>> & { readonly notices: number }

const sessionKey = ['session'] as const
const closedKey = ['closed'] as const

async function readSession(): Promise<Me | null> {
  const { user, notices } = await api.getSession()
  return user && { ...user, notices }
}

const useSession = () => useData(sessionKey, readSession)

/** The signed-in user: undefined while unknown, null for a visitor. */
export const useMe = (): Me | null | undefined => useSession().data

/** Resolves when the page knows whether a user is signed in, or that it cannot know. */
export async function ensureSession(): Promise<void> {
  await queries.ensureQueryData({ queryKey: sessionKey, queryFn: readSession }).catch(() => undefined)
}

/** Whether the page knows that no user is signed in. */
export const isVisitor = (): boolean => queries.getQueryData(sessionKey) === null

/** The error of the request for the signed-in user, and a function to retry it. */
export function useSessionFailure(): { error: unknown; retry: () => unknown } | undefined {
  const { data, error, refetch } = useSession()
  return error && data === undefined ? { error, retry: refetch } : undefined
}

/** Whether a visitor of a private node was refused something, and has to sign in. */
export const useIsClosed = (): boolean => useData(closedKey, () => Promise.resolve(site.isPrivate), false).data === true

/** Watches responses for an expired session, a private node, and a node that is available again. */
export function watchSession(): void {
  queries.getQueryCache().subscribe((event) => {
    if (event.type !== 'updated' || isAboutSession(event.query.queryKey)) return
    if (event.action.type === 'error' && isUnauthorized(event.action.error)) void learnWhy()
    const isKnown = queries.getQueryState(sessionKey)?.status !== 'error'
    if (event.action.type === 'success' && !isKnown) void reloadData(...sessionKey)
  })
}

const isAboutSession = ([first]: readonly unknown[]): boolean => first === sessionKey[0] || first === closedKey[0]

async function learnWhy(): Promise<void> {
  if (queries.getQueryData(sessionKey)) await reloadData(...sessionKey)
  const me = await queries.fetchQuery({ queryKey: sessionKey, queryFn: readSession })
  if (me === null) queries.setQueryData(closedKey, site.isPrivate)
}

/** Exchanges an API key for a session. Throws `unauthorized` for an invalid key. */
export async function signIn(key: string): Promise<void> {
  await apiWith({ apiKey: key }).createSession()
  await clearCachedData()
}

/** Ends the session; if the identity provider opened it, also the session there. */
export async function signOut(): Promise<void> {
  if (site.signIn === undefined) await api.deleteSession()
  else {
    const { location: provider } = await postToNode<{ location: string | null }>('/logout', {})
    if (provider !== null) location.assign(provider)
  }
  closeShareLink()
  await clearCachedData()
}

/** Clears the cached data, which must not be shown to the next user. */
async function clearCachedData(): Promise<void> {
  queries.setQueryData(closedKey, false)
  queries.removeQueries({ predicate: ({ queryKey }) => !isAboutSession(queryKey) })
  await reloadData(...sessionKey)
}
