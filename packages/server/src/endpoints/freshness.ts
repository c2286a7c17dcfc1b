import { toMirroredRead, type UpstreamPort, type WantedSkill } from '@skillstead/core/internal'
import type { Answer, Header } from '@skillstead/gateways'
import type { Call } from '../context/call.ts'
import type { Route } from './routes.ts'

/**
 * Adds freshness headers to responses about a skill from an upstream, or about lists that may contain such skills:
 * `Age`, the seconds since the upstream confirmed the content (RFC 9111, section 5.1), and `X-Skillstead-Stale` if this
 * age is too high or the last sync failed.
 */
export async function withFreshness(port: UpstreamPort, call: Call, route: Route, answer: Answer): Promise<Answer> {
  if (!tellsFreshness(route)) return answer
  const read = toMirroredRead(route.name, {
    name: decodeURIComponent(call.params?.['name'] ?? ''),
    version: call.params?.['version'] ?? (call.url?.searchParams.get('version') || undefined),
    to: call.url?.searchParams.get('to') || undefined,
  })
  return { ...answer, headers: [...(answer.headers ?? []), ...(await readFreshness(port, read?.wanted))] }
}

/** The freshness headers of the skill `wanted`; if undefined, of lists. Content of a given version is never stale. */
export async function readFreshness(port: UpstreamPort, wanted: WantedSkill | undefined): Promise<Header[]> {
  const freshness = await port.freshness(wanted?.name)
  if (!freshness) return []
  const headers: Header[] = [['age', `${freshness.ageSeconds}`]]
  if (freshness.stale && wanted?.version === undefined) headers.push(['x-skillstead-stale', 'true'])
  return headers
}

/** Whether responses of an endpoint may have freshness headers. */
export function tellsFreshness({ name, endpoint }: Route): boolean {
  return endpoint.reads && toMirroredRead(name, {}) !== undefined
}
