import {
  type ArtifactPlace,
  type DiscoveryScope,
  lookThrough,
  parseArtifactFile,
  type WantedSkill,
} from '@skillstead/core/internal'
import type { Call } from '../call.ts'
import { readFreshness } from '../freshness.ts'
import { spendOne, type NodeParts } from '../gate.ts'
import type { Header } from '../replies.ts'

/** The content of a page: a skill, a list, or content that only this node has, such as a share link. */
export type PageRead = { readonly skill: WantedSkill } | 'list' | 'own'

/** What a request for an index, or for a file of an index, reads. A pack of this node needs no upstream: all its skills are stored here. */
export function toPageRead(scope: DiscoveryScope, file?: ArtifactPlace['file']): PageRead {
  if (scope.of !== 'skill' && scope.of !== 'owner') return scope.of === 'share' ? 'own' : 'list'
  const named = file === undefined ? undefined : parseArtifactFile(file)
  if (named) return { skill: { name: `${scope.owner}/${named.name}`, version: named.version } }
  return scope.of === 'owner' ? 'list' : { skill: { name: `${scope.owner}/${scope.name}`, version: scope.version } }
}

/**
 * Reads the content of a page on a node with upstreams, and fetches missing skills from upstream. Pages are not
 * charged, but a missing skill costs one request, because it may cause upstream requests.
 */
export async function throughUpstreams<Result>(
  node: NodeParts,
  call: Call,
  read: PageRead,
  perform: () => Promise<Result>,
): Promise<Result> {
  const { port } = node.context.upstreams
  if (port === undefined || read === 'own') return perform()
  const wanted = read === 'list' ? undefined : read.skill
  const pull: typeof port.pull = async (skill) => {
    await spendOne(node, call)
    return port.pull(skill)
  }
  return lookThrough({ ...port, pull }, wanted, perform)
}

/** The freshness of the skill that a page shows. */
export async function readPageFreshness({ context }: NodeParts, read: PageRead): Promise<Header[]> {
  const { port } = context.upstreams
  return port === undefined || typeof read === 'string' ? [] : readFreshness(port, read.skill)
}
