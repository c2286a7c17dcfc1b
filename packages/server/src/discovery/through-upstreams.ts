import {
  lookThrough,
  parseArtifactFile,
  type ArtifactPlace,
  type DiscoveryScope,
  type WantedSkill,
} from '@skillstead/core'
import type { Call } from '../call.ts'
import { readFreshness } from '../freshness.ts'
import { spendOne, type NodeParts } from '../gate.ts'
import type { Header } from '../replies.ts'

/** What a page reads: a skill, a list that is answered from here, or what is nobody else's, such as a link. */
export type PageRead = { readonly skill: WantedSkill } | 'list' | 'own'

/** Of an index, or of a file beside one. A pack that is here has all its skills here. */
export function toPageRead(scope: DiscoveryScope, file?: ArtifactPlace['file']): PageRead {
  if (scope.of !== 'skill' && scope.of !== 'owner') return scope.of === 'share' ? 'own' : 'list'
  const named = file === undefined ? undefined : parseArtifactFile(file)
  if (named) return { skill: { name: `${scope.owner}/${named.name}`, version: named.version } }
  return scope.of === 'owner' ? 'list' : { skill: { name: `${scope.owner}/${scope.name}`, version: scope.version } }
}

/**
 * Reads what a page shows on a node that follows others: what is not here is looked for upstream. Pages are free, but a
 * miss costs what a call does, for it may have somebody else asked.
 */
export async function throughUpstreams<Result>(
  node: NodeParts,
  call: Call,
  read: PageRead,
  perform: () => Promise<Result>,
): Promise<Result> {
  const { port } = node.registry.upstreams
  if (port === undefined || read === 'own') return perform()
  const wanted = read === 'list' ? undefined : read.skill
  const pull: typeof port.pull = async (skill) => {
    await spendOne(node, call)
    return port.pull(skill)
  }
  return lookThrough({ ...port, pull }, wanted, perform)
}

/** How fresh what a page shows of a skill is. */
export async function readPageFreshness({ registry }: NodeParts, read: PageRead): Promise<Header[]> {
  const { port } = registry.upstreams
  return port === undefined || typeof read === 'string' ? [] : readFreshness(port, read.skill)
}
