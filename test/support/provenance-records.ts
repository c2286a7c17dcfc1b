import type { ContentFile } from '@skillstead/client/verify'
import { localApi, systemCaller } from '@skillstead/core'
import { partsOf, rotateKey } from '@skillstead/core/internal'
import type { Provenance } from '@skillstead/protocol'
import { skillMd } from './answers.ts'
import { readKeys } from './signed-log.ts'
import { openRegistry } from './open-registry.ts'

export const toFile = (path: string, text: string): ContentFile => ({ path, bytes: Buffer.from(text) })

/** The files of the version that the records are of. */
export const content = [
  toFile('SKILL.md', skillMd('tea')),
  toFile('a.txt', 'The first file.'),
  toFile('b/c.txt', 'The second file.'),
]

/** Provenance records of a node, and its public keys. */
export interface Records {
  readonly record: Provenance
  /** Of what is not public. */
  readonly unlogged: Provenance
  /** While one key follows the other. */
  readonly turning: Provenance
  readonly keys: string[]
}

export async function makeRecords(): Promise<Records> {
  const registry = await openRegistry({ path: ':memory:', origin: 'node.example', works: false })
  await localApi(registry, systemCaller).createUser({ username: 'alice' })
  await localApi(registry, systemCaller).createUser({ username: 'bob' })
  const alice = localApi(registry, await registry.getCaller('alice'))
  const bob = localApi(registry, await registry.getCaller('bob'))
  const files = content.slice(1).map(({ path, bytes }) => ({ path, content: Buffer.from(bytes).toString() }))
  await bob.publishSkill({ skillMd: skillMd('source') })
  await alice.forkSkill({ name: 'bob/source', newName: 'tea' })
  for (let i = 0; i < 9; i++) await bob.publishSkill({ skillMd: skillMd(`other-${i}`) })
  await alice.publishSkill({ skillMd: skillMd('tea'), files })
  await alice.publishSkill({ skillMd: skillMd('secret'), visibility: 'private' })
  await bob.publishSkill({ skillMd: skillMd('later') })
  const keys = await readKeys(alice)
  const record = await alice.getProvenance({ name: 'tea' })
  const unlogged = await alice.getProvenance({ name: 'secret' })
  await rotateKey(partsOf(registry))
  const turning = await alice.getProvenance({ name: 'tea' })
  await registry.close()
  return { record, unlogged, turning, keys }
}
