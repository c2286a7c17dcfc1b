import { createClient } from '@skillstead/client'
import type { Registry } from '@skillstead/core'
import { readBytes } from '@skillstead/skill-format/archives'
import type { RegistryApi } from '@skillstead/protocol'
import type { Arguments } from '../command/command.ts'
import { findNode, withRegistry } from '../registry/place.ts'
import { parseKeys } from './given-keys.ts'

/**
 * As `withApi`, with the API key in `--api-key`, and without counting what is read as a download where it can be told. The
 * registry is there where it works on files.
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

/** The verifier keys that a node says it has, the current one first. */
export async function readKeys(api: RegistryApi): Promise<string[]> {
  const keys = parseKeys(Buffer.from(await readBytes(await api.getPublicKey())).toString())
  if (keys.length === 0) throw new Error('The node names no key.')
  return keys
}

/** The verifier keys that a registry believes of its upstreams: their logs prove what came from them. */
export async function readFollowedKeys(registry: Registry): Promise<string[]> {
  const { readUpstreamKeys } = await import('@skillstead/mirror/extension')
  return readUpstreamKeys(registry)
}
