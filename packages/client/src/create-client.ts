import type { ApiOptions, EndpointName, RegistryApi } from '@skillstead/protocol'
import { keysOf, toRecord, wire } from '@skillstead/protocol/wire'
import { createHttp, type HttpOptions } from './http.ts'

/** The address of the node, the caller's credentials, and the timeouts and retries. */
export interface ClientOptions extends HttpOptions {}

/**
 * The registry of a node as functions over HTTP, with the same interface as the in-process API. A read is retried after
 * a temporary error, and not before `Retry-After`. The functions throw a RegistryError: the error of the node, or
 * `upstream_failed` or `upstream_timeout` if no node responds. `createClient` throws a TypeError for an invalid
 * option.
 *
 * @example
 * const api = createClient({ baseUrl: 'http://localhost:7545' })
 * const { skills } = await api.searchSkills({ q: 'pdf' })
 */
export function createClient(options: ClientOptions): RegistryApi {
  const call = createHttp(options)
  const toFunction =
    (name: EndpointName) =>
    async (input: Record<string, unknown> = {}, { signal }: ApiOptions = {}) =>
      (await call(name, input, signal && { signal })).output
  return toRecord(keysOf(wire), toFunction) as RegistryApi
}
