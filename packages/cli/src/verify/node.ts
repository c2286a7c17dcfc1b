import { createClient } from '@skillstead/client'
import type { Registry } from '@skillstead/core'
import { readBytes } from '@skillstead/skill-format/archives'
import type { RegistryApi } from '@skillstead/protocol'
import type { Arguments } from '../command.ts'
import { findNode, withRegistry } from '../place.ts'
import { parseKeys } from './given-keys.ts'

/**
 * Like `withApi`, with the API key from `--api-key`; reads are not counted as downloads if the node supports that. The
 * registry is passed if it is in a folder or database.
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
  return work(createClient({ ...node, client: 'skillstead' }))
}

/** The verifier keys that a node publishes, current key first. */
export async function readKeys(api: RegistryApi): Promise<string[]> {
  const keys = parseKeys(Buffer.from(await readBytes(await api.getPublicKey())).toString())
  if (keys.length === 0) throw new Error('The node publishes no key.')
  return keys
}

/**
 * The verifier keys of the upstreams that a registry trusts: the logs of these upstreams prove the skills that came
 * from them.
 */
export async function readFollowedKeys({ database }: Registry): Promise<string[]> {
  const rows = await database.read.selectFrom('upstreams').select('keys').execute()
  return rows.flatMap(({ keys }) => JSON.parse(keys) as string[])
}
