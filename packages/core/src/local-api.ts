import { endpoints, type EndpointName, type RegistryApi } from '@skillstead/protocol'
import { localCall } from './call.ts'
import { guest, type Caller } from './kernel/caller.ts'
import type { CallOptions } from './kernel/call-options.ts'
import type { OperatorContext } from './operator/operator-context.ts'
import { EncodedJson } from './kernel/encoded-json.ts'
import { SkillMoved } from './catalogue/find-skill.ts'

/**
 * The registry as functions, without a network between: the same as the HTTP client's, for the given caller. `options`
 * go along with every call, such as an agent's token.
 *
 * @example
 * const api = localApi(registry, await registry.getCaller('alice'))
 * await api.publishSkill({ skillMd })
 */
export function localApi(context: OperatorContext, caller: Caller = guest, options: CallOptions = {}): RegistryApi {
  const functions = (Object.keys(endpoints) as EndpointName[]).map((name) => [
    name,
    (input: Record<string, unknown> = {}) => call(context, name, input, caller, options),
  ])
  return Object.fromEntries(functions) as RegistryApi
}

async function call(
  context: OperatorContext,
  name: EndpointName,
  input: Record<string, unknown>,
  caller: Caller,
  options: CallOptions,
): Promise<unknown> {
  try {
    const { body } = await localCall(context, name, withoutUndefined(input), caller, options)
    return body instanceof EncodedJson ? JSON.parse(Buffer.from(body.bytes).toString()) : body
  } catch (error) {
    // What HTTP clients do with a redirect.
    if (error instanceof SkillMoved) return call(context, name, { ...input, name: error.fullName }, caller, options)
    throw error
  }
}

/** JSON drops what is undefined; here it would be an unknown or malformed field. */
function withoutUndefined(input: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined))
}
