import { api, apiWith } from '../api.ts'
import { isUnauthorized, queries, refresh, useData } from './queries.ts'

type Me = Awaited<ReturnType<typeof api.getMe>>

function useSession() {
  return useData(['session'], async () => (await api.getSession()).user)
}

/** Who is signed in: undefined until it is known, null for a visitor. */
export function useMe(): Me | null | undefined {
  const { data, error } = useSession()
  return isUnauthorized(error) ? null : data
}

/** Why it cannot be said who is signed in, where the node does not answer, and a way to ask again. */
export function useSessionFailure(): { error: unknown; retry: () => unknown } | undefined {
  const { data, error, refetch } = useSession()
  return error && data === undefined && !isUnauthorized(error) ? { error, retry: refetch } : undefined
}

/** Whether the node answers nothing before one has signed in. */
export function useIsClosed(): boolean {
  return isUnauthorized(useSession().error)
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
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' })
  await refresh('session')
}
