import { localCall } from '@skillstead/core'
import type { SearchResult } from '@skillstead/protocol'
import type { Call } from '../call.ts'
import { isPlainHost } from '../cross-origin.ts'
import type { NodeParts } from '../gate.ts'
import { toInput } from '../input.ts'
import { reply } from '../replies.ts'
import { routes } from '../routes.ts'

const route = routes.find(({ name }) => name === 'searchSkills')!

/** GET /api/search `q`, `limit`, `owner`: the catalogue's search, in the words of `skills find` (`SKILLS_API_URL`). */
export async function findSkills(node: NodeParts, call: Call, publicUrl: string | undefined): Promise<Response> {
  const { body } = await localCall(node.registry, 'searchSkills', toInput(call, route, undefined), call.caller)
  const address = toAddress(node, call, publicUrl)
  const skills = (body as SearchResult).skills.map(({ fullName, name, downloads }) => ({
    id: fullName,
    skillId: name,
    name,
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

/**
 * Where this node is, for installers to go to: as the operator says, a trusted proxy reports, or the caller asked for by
 * an address or `localhost`. A host name may be anything, and the socket's own address is no one's to know; without one
 * of these the sources are paths, which name no other place.
 */
function toAddress(node: NodeParts, call: Call, publicUrl: string | undefined): string {
  const known = publicUrl?.replace(/\/+$/, '') ?? node.addresses.originOf(call.request)
  if (known !== undefined) return known
  const origin = `http://${call.header('host')}`
  return URL.canParse(origin) && isPlainHost(new URL(origin).hostname) ? new URL(origin).origin : ''
}
