import type { Registry } from '@skillstead/core'
import type { RegistryApi } from '@skillstead/protocol'
import { readBytes } from '@skillstead/skill-format/archives'
import type { Arguments } from '../command/command.ts'
import { connectToNode, findNode, withRegistry } from '../registry/place.ts'
import { parseKeys } from './read-keys.ts'

/**
 * Like `withApi`, but takes the API key from --api-key, and does not count downloads from a registry in a folder, which
 * `work` gets as well.
 */
export async function withNode<T>(
  given: Arguments,
  work: (api: RegistryApi, registry?: Registry) => Promise<T>,
): Promise<T> {
  const node = findNode(given, 'api-key')
  if (!node) {
    const { localApi, systemCaller } = await import('@skillstead/core')
    return withRegistry(given, (registry) => work(localApi(registry, systemCaller, { counts: false }), registry))
  }
  return work(connectToNode(node))
}

/** The verifier keys that a node publishes, the current one first. */
export async function readNodeKeys(api: RegistryApi): Promise<string[]> {
  const keys = parseKeys(Buffer.from(await readBytes(await api.getPublicKey())).toString())
  if (keys.length === 0)
    throw new Error('The node publishes no public key, so its records cannot be verified. Check its URL.')
  return keys
}

/** The trusted verifier keys of a registry's upstreams, whose logs prove the content that was imported from them. */
export async function readFollowedKeys(registry: Registry): Promise<string[]> {
  const { readUpstreamKeys } = await import('@skillstead/mirror/extension')
  return readUpstreamKeys(registry)
}
