import type { EndpointName, RegistryApi } from '@skillstead/protocol'
import { wire } from '@skillstead/protocol/wire'
import { createHttp, type HttpOptions } from './http.ts'

/** Where the node is, who calls, and how patient the client is. */
export interface ClientOptions extends HttpOptions {}

/**
 * The registry of a node as functions, over HTTP: the same as the in-process API. Reading calls are made again after
 * errors that pass, and not before `Retry-After` says. Throws RegistryError for what the node refuses, and
 * `upstream_failed` or `upstream_timeout` where no node answers; a TypeError where `baseUrl` is no address.
 *
 * @example
 * const api = createClient({ baseUrl: 'http://localhost:7545' })
 * const { skills } = await api.searchSkills({ q: 'pdf' })
 */
export function createClient(options: ClientOptions): RegistryApi {
  const call = createHttp(options)
  const functions = (Object.keys(wire) as EndpointName[]).map((name) => [
    name,
    async (input: Record<string, unknown> = {}) => (await call(name, input)).output,
  ])
  return Object.fromEntries(functions) as RegistryApi
}
