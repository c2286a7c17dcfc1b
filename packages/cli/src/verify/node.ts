import { createClient } from '@skillstead/client'
import { localApi, readBytes, systemCaller } from '@skillstead/core'
import type { RegistryApi } from '@skillstead/protocol'
import type { Arguments } from '../command.ts'
import { findNode, withRegistry } from '../place.ts'
import { parseKeys } from './given-keys.ts'

/** As `withApi`, with the API key in `--api-key`, and without counting what is read as a download where it can be told. */
export async function withNode<T>(given: Arguments, work: (api: RegistryApi) => Promise<T>): Promise<T> {
  const node = findNode(given, 'api-key')
  if (!node) return withRegistry(given, (registry) => work(localApi(registry, systemCaller, { counts: false })))
  return work(createClient({ ...node, client: 'skillstead' }))
}

/** The verifier keys that a node says it has, the current one first. */
export async function readKeys(api: RegistryApi): Promise<string[]> {
  const keys = parseKeys(Buffer.from(await readBytes(await api.getPublicKey())).toString())
  if (keys.length === 0) throw new Error('The node names no key.')
  return keys
}
