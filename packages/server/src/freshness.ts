import { toMirroredRead, type UpstreamPort, type WantedSkill } from '@skillstead/core'
import type { Call } from './call.ts'
import type { Answer, Header } from './replies.ts'
import type { Route } from './routes.ts'

/**
 * Adds how well an answer is known to be true, where it is of a skill that came from elsewhere, or of a list that may have
 * some: `Age` in seconds since its upstream vouched for it (RFC 9111, section 5.1), and `X-Skillstead-Stale` where that was
 * too long ago or the last try to learn more failed.
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

/** The headers about a skill, or about lists where none is named. What is asked for by its version never changes. */
export async function readFreshness(port: UpstreamPort, wanted: WantedSkill | undefined): Promise<Header[]> {
  const freshness = await port.freshness(wanted?.name)
  if (!freshness) return []
  const headers: Header[] = [['age', `${freshness.ageSeconds}`]]
  if (freshness.stale && wanted?.version === undefined) headers.push(['x-skillstead-stale', 'true'])
  return headers
}

/** Whether answers may say how fresh they are. */
export function tellsFreshness({ name, endpoint }: Route): boolean {
  return endpoint.method === 'GET' && toMirroredRead(name, {}) !== undefined
}
