import type { RegistryApi } from '@skillstead/protocol'
import type { Call } from '../http.ts'
import type { CachedAnswer } from './answer-cache.ts'
import type { Answered } from './keep-answers.ts'

/** Sends a request to a local or remote registry. Does not retry if a cached response is available. */
export type Source = (
  name: 'loadSkill' | 'searchSkills',
  input: Readonly<Record<string, unknown>>,
  held: CachedAnswer | undefined,
  signal: AbortSignal,
) => Promise<Answered>

/** The in-process registry if there is one, else a node. */
export function toSource(api: RegistryApi | undefined, toCall: () => Call): Source {
  if (api) return async (name, input) => ({ output: await api[name](input as never) })
  const call = toCall()
  return (name, input, held, signal) => call(name, input, { etag: held?.etag, signal, ...(held && { retries: 0 }) })
}
