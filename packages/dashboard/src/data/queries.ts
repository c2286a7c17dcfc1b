import { RegistryError } from '@skillstead/client'
import { QueryClient, keepPreviousData, useQuery, type QueryKey, type UseQueryResult } from '@tanstack/preact-query'

/**
 * Responses are cached for 30 s, so that going back and retyping cost no request. The browser's online state is
 * ignored, because the node may be on this machine.
 */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      gcTime: 300_000,
      retry: false,
      refetchOnWindowFocus: false,
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
})

export function isUnauthorized(error: unknown): boolean {
  return error instanceof RegistryError && error.code === 'unauthorized'
}

/** Data of a page: loaded when the key is new, and shared by all components with the same key. */
export function useData<T>(key: readonly unknown[], load: () => Promise<T>, enabled = true): UseQueryResult<T> {
  return useQuery({ queryKey: key, queryFn: load, enabled })
}

/** Like `useData`, but shows the previous data until new data arrives, for lists that change while the user types. */
export function useKeptData<T>(key: readonly unknown[], load: () => Promise<T>): UseQueryResult<T> {
  return useQuery({ queryKey: key, queryFn: load, placeholderData: keepPreviousData })
}

/** Reloads all data whose key begins with these parts, after a change. */
export function refresh(...key: unknown[]): Promise<void> {
  return queries.invalidateQueries({ queryKey: key })
}

/** Reloads all data whose key begins with one of these keys. */
export async function refreshAll(keys: readonly QueryKey[]): Promise<void> {
  await Promise.all(keys.map((key) => refresh(...key)))
}

/** The keys of all data that shows a skill. */
export const skillKeys = [['skill'], ['skills'], ['own-skills']] as const
