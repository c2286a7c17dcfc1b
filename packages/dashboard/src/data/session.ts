import { api, apiWith } from '../api.ts'
import { isUnauthorized, queries, refresh, useData } from './queries.ts'

type Me = Awaited<ReturnType<typeof api.getMe>>

const sessionKey = ['session'] as const
const closedKey = ['closed'] as const
const readSession = async () => (await api.getSession()).user

function useSession() {
  return useData(sessionKey, readSession)
}

/** Who is signed in: undefined until it is known, null for a visitor. */
export function useMe(): Me | null | undefined {
  return useSession().data
}

/** Why it cannot be said who is signed in, where the node does not answer, and a way to ask again. */
export function useSessionFailure(): { error: unknown; retry: () => unknown } | undefined {
  const { data, error, refetch } = useSession()
  return error && data === undefined ? { error, retry: refetch } : undefined
}

/** Whether the node answers nothing before one has signed in. */
export function useIsClosed(): boolean {
  return useData(closedKey, readClosed, false).data === true
}

/** Whether guests are refused what every open node shows them. */
async function readClosed(): Promise<boolean> {
  try {
    await api.listPacks({ limit: 1 })
    return false
  } catch (error) {
    if (isUnauthorized(error)) return true
    throw error
  }
}

/** Has the page learn from its answers that a session has ended, that the node is closed, and that it is back. */
export function watchSession(): void {
  queries.getQueryCache().subscribe((event) => {
    if (event.type !== 'updated' || isAboutSession(event.query.queryKey)) return
    if (event.action.type === 'error' && isUnauthorized(event.action.error)) void learnWhy()
    const isKnown = queries.getQueryState(sessionKey)?.status !== 'error'
    if (event.action.type === 'success' && !isKnown) void refresh(...sessionKey)
  })
}

function isAboutSession([first]: readonly unknown[]): boolean {
  return first === sessionKey[0] || first === closedKey[0]
}

async function learnWhy(): Promise<void> {
  if (queries.getQueryData(sessionKey)) await refresh(...sessionKey)
  const me = await queries.fetchQuery({ queryKey: sessionKey, queryFn: readSession })
  if (me === null) await queries.fetchQuery({ queryKey: closedKey, queryFn: readClosed })
}

/** Changes an API key for a session. Throws `unauthorized` for a key that opens nothing. */
export async function signIn(key: string): Promise<void> {
  await apiWith({ apiKey: key }).createSession()
  await forget()
}

export async function signOut(): Promise<void> {
  await api.deleteSession()
  await forget()
}

/** What one caller saw is not for the next. */
async function forget(): Promise<void> {
  queries.setQueryData(closedKey, false)
  queries.removeQueries({ predicate: ({ queryKey }) => !isAboutSession(queryKey) })
  await refresh(...sessionKey)
}
