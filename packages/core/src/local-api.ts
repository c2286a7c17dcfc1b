import { endpoints, type ApiOptions, type EndpointName, type RegistryApi } from '@skillstead/protocol'
import { localCall } from './call.ts'
import { guest, type Caller } from './kernel/caller.ts'
import type { CallOptions } from './kernel/call-options.ts'
import { EncodedJson } from './kernel/encoded-json.ts'
import { SkillMoved } from './catalogue/find-skill.ts'
import type { Registry } from './registry.ts'

/**
 * The registry as functions that run in this process, with the same signatures as the HTTP client. All calls are made
 * as `caller`. `options` apply to every call, for example an agent's token. Each function also takes a `signal` for one
 * call: an aborted call rejects with the reason of its signal. A write of it that waits for other writes is dropped, one
 * that was already handed to the database may still be committed.
 *
 * @example
 * const api = localApi(registry, await registry.getCaller('alice'))
 * await api.publishSkill({ skillMd }, { signal: AbortSignal.timeout(5000) })
 */
export function localApi(registry: Registry, caller: Caller = guest, options: CallOptions = {}): RegistryApi {
  const functions = (Object.keys(endpoints) as EndpointName[]).map((name) => [
    name,
    (input: Record<string, unknown> = {}, { signal }: ApiOptions = {}) =>
      call(registry, name, input, caller, { ...options, signal: joinSignals(options.signal, signal) }),
  ])
  return Object.fromEntries(functions) as RegistryApi
}

async function call(
  registry: Registry,
  name: EndpointName,
  input: Record<string, unknown>,
  caller: Caller,
  options: CallOptions,
): Promise<unknown> {
  try {
    const { body } = await localCall(registry, name, withoutUndefined(input), caller, options)
    return body instanceof EncodedJson ? JSON.parse(body.json) : body
  } catch (error) {
    // Follow the redirect of a renamed skill, as HTTP clients do.
    if (error instanceof SkillMoved) return call(registry, name, { ...input, name: error.fullName }, caller, options)
    throw error
  }
}

function joinSignals(first: AbortSignal | undefined, second: AbortSignal | undefined): AbortSignal | undefined {
  return first && second ? AbortSignal.any([first, second]) : (first ?? second)
}

/** JSON drops undefined values. Validation would reject them as unknown or malformed fields. */
function withoutUndefined(input: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined))
}
