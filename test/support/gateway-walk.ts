import type { GatewayName } from '@skillstead/gateways'
import { toSearchable } from './gateway-answers.ts'
import { visited, type Visit, type VisitedSkill } from './gateway-visits.ts'

/** A visit of a gateway for a skill. */
interface Step {
  readonly gateway: GatewayName
  readonly skill: VisitedSkill
  readonly visit: Visit
  /** The entity tag of an earlier answer, which the caller has cached. */
  readonly etag?: string | null
}

/** An answer to a visit. */
export interface Seen extends Step {
  readonly status: number
  readonly text: string
}

const concurrentMax = 8

/** Visits all gateways for each of the skills, with the headers of a caller. Equal requests are sent once. */
export async function walk(
  url: string,
  skills: readonly VisitedSkill[],
  headers: Readonly<Record<string, string>> = {},
): Promise<Seen[]> {
  const steps = skills.flatMap((skill) =>
    visited.flatMap(({ name: gateway, paths }) => paths(skill).map((visit) => ({ gateway, skill, visit }))),
  )
  const seen = await replay(url, steps, headers)
  const followed = seen.flatMap(({ next }) => next)
  return [...seen, ...(await replay(url, followed, headers))]
}

/** Sends the requests of an earlier walk again. */
export async function replay(url: string, steps: readonly Step[], headers: Readonly<Record<string, string>> = {}) {
  const sent = new Set<string>()
  const left = steps.filter(({ visit }) => !sent.has(toKey(visit)) && sent.add(toKey(visit))).toReversed()
  const seen: (Seen & { next: Step[] })[] = []
  const work = async () => {
    for (let step = left.pop(); step; step = left.pop()) seen.push(await make(url, step, headers))
  }
  await Promise.all(Array.from({ length: concurrentMax }, work))
  return seen
}

async function make(url: string, { etag: known, ...step }: Step, headers: Readonly<Record<string, string>>) {
  const { path, body, headers: own, follow } = step.visit
  const response = await fetch(url + path, {
    ...(body !== undefined && { method: 'POST', body }),
    headers: { ...own, ...headers, ...(known && { 'if-none-match': known }) },
    redirect: 'manual',
  })
  const { status, headers: answered } = response
  const bytes = Buffer.from(await response.arrayBuffer())
  const text = `${toLines(answered)}\n\n${await toSearchable(bytes)}`
  const next = status === 200 ? (follow?.(bytes) ?? []).map((visit) => ({ ...step, visit })) : []
  const etag = answered.get('etag')
  return { ...step, status, etag, text: text.replaceAll(answered.get('x-request-id') ?? '-', 'ID'), next }
}

/** The headers that may differ between a hidden and a missing skill are those of any two answers. */
function toLines(headers: Headers): string {
  const kept = [...headers].filter(([name]) => !/^(?:date|content-length|x-request-id|.*ratelimit.*)$/.test(name))
  return kept.map((header) => header.join(': ')).join('\n')
}

/** The request of a visit as text. */
export function toKey({ path, body = '' }: Visit): string {
  return `${path} ${body}`
}
