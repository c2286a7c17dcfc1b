import { localCall } from '@skillstead/core/internal'
import type { SearchResult } from '@skillstead/protocol'
import type { Call } from '../call.ts'
import type { NodeParts } from '../gate.ts'
import { toInput } from '../input.ts'
import { reply } from '../replies.ts'
import { routes } from '../routes.ts'

const route = routes.find(({ name }) => name === 'searchSkills')!

/**
 * GET /api/search with `q`, `limit`, `owner`: the catalogue's search, in the format of `skills find`
 * (`SKILLS_API_URL`).
 */
export async function findSkills(node: NodeParts, call: Call): Promise<Response> {
  const { body } = await localCall(node.registry, 'searchSkills', toInput(call, route, undefined), call.caller)
  const address = node.addressOf(call)
  const skills = (body as SearchResult).skills.map(({ fullName, downloads }) => ({
    id: fullName,
    // The name that the program installs from the source: the name in SKILL.md, without an owner.
    skillId: toShortName(fullName),
    name: toShortName(fullName),
    installs: downloads,
    source: `${address}/${fullName}`,
  }))
  return reply(call, {
    status: 200,
    contentType: 'application/json; charset=utf-8',
    body: Buffer.from(JSON.stringify({ skills })),
    cacheControl: call.personal ? 'private, no-store' : 'no-cache',
  })
}

function toShortName(fullName: string): string {
  return fullName.slice(fullName.indexOf('/') + 1)
}
