import { RegistryError } from '@skillstead/client'
import { QueryClient, keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/preact-query'

/**
 * What was asked is kept for half a minute, so that going back and typing again cost no request. Whether this machine
 * has a network says nothing about the node: it may be on this machine.
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

/** What a page shows: asked for when the key is new, shared by all that ask for the same. */
export function useData<T>(key: readonly unknown[], load: () => Promise<T>, enabled = true): UseQueryResult<T> {
  return useQuery({ queryKey: key, queryFn: load, enabled })
}

/** As `useData`, but what stood there stays until the new is here, as lists do that change while somebody types. */
export function useKeptData<T>(key: readonly unknown[], load: () => Promise<T>): UseQueryResult<T> {
  return useQuery({ queryKey: key, queryFn: load, placeholderData: keepPreviousData })
}

/** Has whatever begins with the key asked for again, after something changed it. */
export function refresh(...key: unknown[]): Promise<void> {
  return queries.invalidateQueries({ queryKey: key })
}
