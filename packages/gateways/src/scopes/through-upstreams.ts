import { type DiscoveryScope, lookThrough, type WantedSkill, type UpstreamPort } from '@skillstead/core/internal'
import type { GatewayCall, GatewayHost, Header } from '../gateway.ts'

/** What a page shows: a skill, a list, or content that only this node has, such as a share link. */
export type PageRead = { readonly skill: WantedSkill } | 'list' | 'own'

/**
 * What a request reads: an index or, if `named` is given, a file of that skill. A pack counts as a list, because all
 * its skills are stored on this node.
 */
export function toPageRead(scope: DiscoveryScope, named?: Pick<WantedSkill, 'name' | 'version'>): PageRead {
  if (scope.of !== 'skill' && scope.of !== 'owner') return scope.of === 'share' ? 'own' : 'list'
  if (named) return { skill: { ...named, name: `${scope.owner}/${named.name}` } }
  return scope.of === 'owner' ? 'list' : { skill: { name: `${scope.owner}/${scope.name}`, version: scope.version } }
}

/**
 * Reads the content of a page. On a node with upstreams, fetches a missing skill from upstream, which is charged as one
 * more request, because it may cause upstream requests.
 */
export async function throughUpstreams<Result>(
  host: GatewayHost,
  call: GatewayCall,
  read: PageRead,
  perform: () => Promise<Result>,
): Promise<Result> {
  const { port } = host.context.upstreams
  if (port === undefined || read === 'own') return perform()
  const wanted = read === 'list' ? undefined : read.skill
  const charged: Pick<UpstreamPort, 'freshen' | 'pull'> = {
    freshen: (skill) => port.freshen(skill),
    async pull(skill) {
      await host.spendRequest(call)
      return port.pull(skill)
    },
  }
  return lookThrough(charged, wanted, perform)
}

/** The freshness headers for a page about a skill; none for other pages. */
export async function readPageFreshness(host: GatewayHost, read: PageRead): Promise<readonly Header[]> {
  return typeof read === 'string' ? [] : host.freshness(read.skill)
}
