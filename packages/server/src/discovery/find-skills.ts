import { isIPv6 } from 'node:net'
import { localCall } from '@skillstead/core'
import type { SearchResult } from '@skillstead/protocol'
import type { Call } from '../call.ts'
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
 * Where this node is, for installers to go to: as the operator says, or a proxy that is trusted; else the socket that the
 * caller reached, for what a request says of its host may be anything.
 */
function toAddress(node: NodeParts, call: Call, publicUrl: string | undefined): string {
  const known = publicUrl?.replace(/\/+$/, '') ?? node.addresses.originOf(call.request)
  if (known !== undefined) return known
  const { localAddress, localPort } = call.request.runtime?.node?.req.socket ?? {}
  if (localAddress === undefined) return new URL(call.request.url).origin
  const address = localAddress.replace(/^::ffff:/, '')
  return `http://${isIPv6(address) ? `[${address}]` : address}:${localPort}`
}
