import { toMirroredRead, type UpstreamPort } from '@skillstead/core'
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
  const read = toMirroredRead(route.name, { name: decodeURIComponent(call.params?.['name'] ?? '') })
  const freshness = await port.freshness(read?.wanted?.name)
  if (!freshness) return answer
  const headers: Header[] = [...(answer.headers ?? []), ['age', `${freshness.ageSeconds}`]]
  if (freshness.stale) headers.push(['x-skillstead-stale', 'true'])
  return { ...answer, headers }
}

/** Whether answers may say how fresh they are. */
export function tellsFreshness({ name, endpoint }: Route): boolean {
  return endpoint.method === 'GET' && toMirroredRead(name, {}) !== undefined
}
